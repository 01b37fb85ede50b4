package org.hghca.wire.link;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;

/**
 * {@code struct sockaddr_in} (16 bytes) and {@code sockaddr_in6} (28 bytes).
 *
 * <pre>
 *  00h | family | port (BE) |        00h | family | port (BE) |
 *  04h | IPv4 address       |        04h | flow label         |
 *  08h | zeros              |        08h | IPv6 address       |
 *                                    18h | scope              |
 * </pre>
 */
final class SocketName {
  /** Bytes that hold any. */
  static final int SPACE = 32;

  static final int IPV4_FAMILY = 2;
  static final int IPV6_FAMILY = 10;

  private static final int IPV4_SIZE = 16;
  private static final int IPV6_SIZE = 28;
  private static final ValueLayout.OfShort FAMILY = ValueLayout.JAVA_SHORT_UNALIGNED;
  private static final ValueLayout.OfShort PORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private SocketName() {}

  static int size(boolean ipv4) {
    return ipv4 ? IPV4_SIZE : IPV6_SIZE;
  }

  /**
   * Writes an address.
   *
   * @param scope of a link-local IPv6 address: the number of its interface
   */
  static void write(MemorySegment memory, long at, long high, long low, int port, int scope) {
    if (IpAddress.isIpv4(high, low)) {
      writeIpv4(memory, at, (int) low, port);
    } else {
      memory.set(FAMILY, at, (short) IPV6_FAMILY);
      memory.set(PORT, at + 2, (short) port);
      memory.set(INT, at + 4, 0);
      memory.set(LONG, at + 8, high);
      memory.set(LONG, at + 16, low);
      memory.set(ValueLayout.JAVA_INT_UNALIGNED, at + 24, scope);
    }
  }

  /** Writes an IPv4 address; 0 stands for all of this machine. */
  static void writeIpv4(MemorySegment memory, long at, int address, int port) {
    memory.set(FAMILY, at, (short) IPV4_FAMILY);
    memory.set(PORT, at + 2, (short) port);
    memory.set(INT, at + 4, address);
    memory.set(LONG, at + 8, 0);
  }

  /** Reads address and port as those of a packet's source. */
  static void readSource(MemorySegment memory, long at, boolean ipv4, Packet packet) {
    packet.udpSourcePort = port(memory, at);
    if (ipv4) {
      packet.sourceIpv4(memory.get(INT, at + 4));
    } else {
      packet.sourceIpHigh = memory.get(LONG, at + 8);
      packet.sourceIpLow = memory.get(LONG, at + 16);
    }
  }

  static int port(MemorySegment memory, long at) {
    return memory.get(PORT, at + 2) & 0xffff;
  }
}
