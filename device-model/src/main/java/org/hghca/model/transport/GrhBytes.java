package org.hghca.model.transport;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;
import org.hghca.wire.frame.IpHeader;
import org.hghca.wire.frame.TransportHeaders;

/**
 * The 40 bytes in front of a received datagram. For a packet with IPv4 addresses (RoCE v2) they are
 * 20 zero bytes and the IPv4 header, with IPv6 addresses the IPv6 header; for one without addresses
 * (RoCE v1) a global route header with link-local GIDs. All fields are big-endian.
 *
 * <pre>
 *        GRH
 * 00h  | 6 | class | flow label     |
 * 04h  | payload length | next | hop |
 * 08h  | source GID                  |
 * 18h  | destination GID             |
 * </pre>
 *
 * <p>Source: InfiniBand specification, volume 1, 8.3 and annexes A16 and A17; RFC 4291, appendix A.
 */
final class GrhBytes {
  static final int SIZE = 40;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private static final int IPV4 = SIZE - IpHeader.IPV4_SIZE;
  private static final int UDP_SIZE = 8;

  private static final int GRH_VERSION = 0x6000_0000;
  private static final int GRH_NEXT_IS_TRANSPORT = 0x1b;
  private static final long LINK_LOCAL = 0xfe80_0000_0000_0000L;

  private final MemorySegment bytes = Arena.ofAuto().allocate(SIZE, 8);

  /** The header of a packet, good until the next call. */
  MemorySegment of(Packet packet) {
    long high = packet.destinationIpHigh;
    long low = packet.destinationIpLow;
    int length = TransportHeaders.length(packet);
    if (IpAddress.isIpv4(high, low)) {
      bytes.asSlice(0, IPV4).fill((byte) 0);
      IpHeader.writeIpv4(bytes, IPV4, packet, UDP_SIZE + length);
    } else if (IpAddress.isIpv6(high, low)) {
      IpHeader.writeIpv6(bytes, 0, packet, UDP_SIZE + length);
    } else {
      writeRoute(packet, length);
    }
    return bytes;
  }

  private void writeRoute(Packet packet, int length) {
    bytes.set(INT, 0, GRH_VERSION);
    bytes.set(INT, 4, length << 16 | GRH_NEXT_IS_TRANSPORT << 8 | packet.hopLimit);
    bytes.set(LONG, 8, LINK_LOCAL);
    bytes.set(LONG, 16, interfaceIdentifier(packet.sourceMac));
    bytes.set(LONG, 24, LINK_LOCAL);
    bytes.set(LONG, 32, interfaceIdentifier(packet.destinationMac));
  }

  /** The modified EUI-64 of an Ethernet address. */
  private static long interfaceIdentifier(long mac) {
    return (mac >>> 24 << 40 | 0xff_fe00_0000L | mac & 0xff_ffff) ^ 0x0200_0000_0000_0000L;
  }
}
