package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.wire.Packet;

/**
 * Native memory for the control messages of datagrams: class, hop limit, and the segment size of
 * several datagrams in one.
 *
 * <pre>
 * struct cmsghdr, of 24 bytes with its value
 *  00h its length
 *  08h level
 *  0Ch type
 *  10h value
 * </pre>
 */
final class ControlMessages {
  /** Bytes for one datagram. */
  static final int SPACE = 3 * 24;

  private static final int CONTROL = 24;
  private static final int HEADER = 16;
  private static final int IP_LEVEL = 0;
  private static final int UDP_LEVEL = 17;
  private static final int IPV6_LEVEL = 41;
  private static final int IP_TOS = 1;
  private static final int IP_TTL = 2;
  private static final int IPV6_HOPLIMIT = 52;
  private static final int IPV6_TCLASS = 67;
  private static final int UDP_SEGMENT = 103;
  private static final int UDP_GRO = 104;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

  private final MemorySegment memory;

  /** Bytes in use, of those to send. */
  private final int[] lengths;

  ControlMessages(int size) {
    memory = Arena.ofAuto().allocate((long) size * SPACE, 8);
    lengths = new int[size];
  }

  /** The address of a datagram's control messages. */
  long address(int datagram) {
    return memory.address() + (long) datagram * SPACE;
  }

  /** Bytes of the control messages that a datagram is sent with. */
  int length(int datagram) {
    return lengths[datagram];
  }

  void clear(int datagram) {
    lengths[datagram] = 0;
  }

  /** Has a datagram sent with a class and a hop limit. */
  void add(int datagram, boolean ipv4, int trafficClass, int hopLimit) {
    int level = ipv4 ? IP_LEVEL : IPV6_LEVEL;
    add(datagram, level, ipv4 ? IP_TOS : IPV6_TCLASS, Integer.BYTES, trafficClass);
    add(datagram, level, ipv4 ? IP_TTL : IPV6_HOPLIMIT, Integer.BYTES, hopLimit);
  }

  /** Has a datagram cut into several. */
  void segment(int datagram, int size) {
    add(datagram, UDP_LEVEL, UDP_SEGMENT, Short.BYTES, size);
  }

  /** Has a datagram not cut: {@link #segment} was the last that was added. */
  void whole(int datagram) {
    lengths[datagram] -= CONTROL;
  }

  private void add(int datagram, int level, int type, int bytes, int value) {
    long at = (long) datagram * SPACE + lengths[datagram];
    memory.set(LONG, at, HEADER + bytes);
    memory.set(INT, at + 8, level);
    memory.set(INT, at + 12, type);
    memory.set(INT, at + HEADER, value); // little-endian: a short value is its beginning
    lengths[datagram] += CONTROL;
  }

  /**
   * Reads the control messages of a received datagram.
   *
   * @param bytes that the kernel has written
   * @param packet gets class and hop limit
   * @return the size of its segments, 0 where it is one
   */
  int read(int datagram, long bytes, Packet packet) {
    int segment = 0;
    packet.trafficClass = 0;
    packet.hopLimit = Packet.DEFAULT_HOP_LIMIT;
    long begin = (long) datagram * SPACE;
    for (long at = begin; at + HEADER < begin + bytes; at += CONTROL) {
      switch (memory.get(INT, at + 12)) {
        case IP_TOS, IPV6_TCLASS ->
            packet.trafficClass = memory.get(ValueLayout.JAVA_BYTE, at + HEADER) & 0xff;
        case UDP_GRO -> segment = memory.get(INT, at + HEADER);
        default -> packet.hopLimit = memory.get(INT, at + HEADER) & 0xff;
      }
    }
    return segment;
  }
}
