package org.hghca.model.transport;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;

/**
 * The 40 bytes in front of a received datagram. For a packet with IPv4 addresses (RoCE v2) they are
 * 20 zero bytes and the IPv4 header; otherwise (RoCE v1) a global route header with link-local
 * GIDs. All fields are big-endian.
 *
 * <pre>
 *        IPv4                                           GRH
 * 14h  | 45 | tos | total length           |     00h  | 6 | class | flow label     |
 * 18h  | identification | DF | offset      |     04h  | payload length | next | hop |
 * 1Ch  | ttl | protocol | header checksum  |     08h  | source GID                  |
 * 20h  | source address                    |     18h  | destination GID             |
 * 24h  | destination address               |
 * </pre>
 *
 * <p>Source: InfiniBand specification, volume 1, 8.3 and annexes A16 and A17; RFC 791; RFC 4291,
 * appendix A.
 */
final class GrhBytes {
  static final int SIZE = 40;

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private static final int HOP_LIMIT = 64;

  private static final int IPV4 = 20;
  private static final int IPV4_SIZE = 20;
  private static final int IPV4_VERSION_AND_SIZE = 0x4500_0000;
  private static final int IPV4_DO_NOT_FRAGMENT = 0x4000;
  private static final int IPV4_CHECKSUM = IPV4 + 10;
  private static final int UDP_PROTOCOL = 17;
  private static final int UDP_SIZE = 8;

  private static final int GRH_VERSION = 0x6000_0000;
  private static final int GRH_NEXT_IS_TRANSPORT = 0x1b;
  private static final long LINK_LOCAL = 0xfe80_0000_0000_0000L;

  /** BTH and DETH, and the invariant CRC after the payload. */
  private static final int TRANSPORT_SIZE = 12 + 8;

  private static final int IMMEDIATE_SIZE = 4;
  private static final int CRC_SIZE = 4;

  private final MemorySegment bytes = Arena.ofAuto().allocate(SIZE, 8);

  /** The header of a packet, good until the next call. */
  MemorySegment of(Packet packet) {
    if (packet.destinationIp != 0) {
      writeIpv4(packet);
    } else {
      writeRoute(packet);
    }
    return bytes;
  }

  private void writeIpv4(Packet packet) {
    bytes.asSlice(0, IPV4).fill((byte) 0);
    bytes.set(INT, IPV4, IPV4_VERSION_AND_SIZE | IPV4_SIZE + UDP_SIZE + transportLength(packet));
    bytes.set(INT, IPV4 + 4, IPV4_DO_NOT_FRAGMENT);
    bytes.set(INT, IPV4 + 8, HOP_LIMIT << 24 | UDP_PROTOCOL << 16);
    bytes.set(INT, IPV4 + 12, packet.sourceIp);
    bytes.set(INT, IPV4 + 16, packet.destinationIp);
    bytes.set(SHORT, IPV4_CHECKSUM, (short) ~sum());
  }

  /** The ones' complement sum of the IPv4 header. */
  private int sum() {
    int sum = 0;
    for (int at = IPV4; at < SIZE; at += 2) {
      sum += bytes.get(SHORT, at) & 0xffff;
    }
    sum = (sum & 0xffff) + (sum >>> 16);
    return (sum & 0xffff) + (sum >>> 16);
  }

  private void writeRoute(Packet packet) {
    bytes.set(INT, 0, GRH_VERSION);
    bytes.set(INT, 4, transportLength(packet) << 16 | GRH_NEXT_IS_TRANSPORT << 8 | HOP_LIMIT);
    bytes.set(LONG, 8, LINK_LOCAL);
    bytes.set(LONG, 16, interfaceIdentifier(packet.sourceMac));
    bytes.set(LONG, 24, LINK_LOCAL);
    bytes.set(LONG, 32, interfaceIdentifier(packet.destinationMac));
  }

  /** From the base transport header to the CRC; the payload is padded to 4 bytes. */
  private static int transportLength(Packet packet) {
    boolean hasImmediate = PacketOpcode.hasImmediate(packet.opcode & PacketOpcode.OPERATION_MASK);
    return TRANSPORT_SIZE
        + (hasImmediate ? IMMEDIATE_SIZE : 0)
        + (packet.length + 3 & ~3)
        + CRC_SIZE;
  }

  /** The modified EUI-64 of an Ethernet address. */
  private static long interfaceIdentifier(long mac) {
    return (mac >>> 24 << 40 | 0xff_fe00_0000L | mac & 0xff_ffff) ^ 0x0200_0000_0000_0000L;
  }
}
