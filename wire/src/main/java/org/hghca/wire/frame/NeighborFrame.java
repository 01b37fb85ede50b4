package org.hghca.wire.frame;

import static org.hghca.wire.IpAddress.LINK_GROUP_HIGH;
import static org.hghca.wire.frame.Bytes.INT;
import static org.hghca.wire.frame.Bytes.LONG;
import static org.hghca.wire.frame.Bytes.SHORT;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.wire.IpAddress;

/**
 * Frames of neighbor discovery for IPv6 over Ethernet: neighbor solicitations and advertisements
 * (RFC 4861, 4.3 and 4.4), each with the option of a link-layer address.
 *
 * <pre>
 *  00h | destination MAC | source MAC | 86dd |
 *  0Eh | IPv6: payload length 20h, next header 3Ah, hop limit ffh |
 *  16h | source address  |  26h | destination address |
 *  36h | type: 87h solicitation, 88h advertisement | code 0 | checksum |
 *  3Ah | advertisement: router 31, solicited 30, override 29 |
 *  3Eh | target address |
 *  4Eh | option: 1 of the source, 2 of the target | 01h | MAC |
 * </pre>
 */
public final class NeighborFrame {
  /** Bytes of a written frame. */
  public static final int SIZE = 86;

  private static final int TYPE_AT = 12;
  private static final int IP = FrameLayout.ETHERNET_SIZE;
  private static final int SOURCE = IP + 8;
  private static final int DESTINATION = IP + 24;
  private static final int MESSAGE = IP + IpHeader.IPV6_SIZE;
  private static final int FLAGS = MESSAGE + 4;
  private static final int TARGET = MESSAGE + 8;
  private static final int OPTIONS = MESSAGE + 24;

  /** Bytes of a message without options, and of the option of a link-layer address. */
  private static final int SHORTEST = 24;

  private static final int OPTION_SIZE = 8;

  private static final int ICMP = 58;
  private static final int HOP_LIMIT = 255;
  private static final int SOLICITATION = 135;
  private static final int ADVERTISEMENT = 136;
  private static final int SOURCE_OPTION = 1;
  private static final int TARGET_OPTION = 2;
  private static final int SOLICITED = 1 << 30;
  private static final int OVERRIDE = 1 << 29;

  /** Group addresses, ff00::/8, and all nodes of a link, ff02::1. */
  private static final int GROUP_BYTE = 0xff;

  private static final long ALL_NODES_LOW = 1;

  private NeighborFrame() {}

  /** Writes a solicitation for the MAC of a target. */
  public static void writeSolicitation(
      MemorySegment memory,
      long at,
      long mac,
      long sourceHigh,
      long sourceLow,
      long targetHigh,
      long targetLow) {
    long group = IpAddress.lowOfSolicitedNode(targetLow);
    memory.set(LONG, at + SOURCE, sourceHigh);
    memory.set(LONG, at + SOURCE + 8, sourceLow);
    memory.set(LONG, at + TARGET, targetHigh);
    memory.set(LONG, at + TARGET + 8, targetLow);
    write(
        memory,
        at,
        SOLICITATION,
        0,
        SOURCE_OPTION,
        mac,
        IpAddress.groupMac(LINK_GROUP_HIGH, group),
        LINK_GROUP_HIGH,
        group);
  }

  /**
   * Writes an advertisement that answers a solicitation for one of our addresses.
   *
   * @param toHigh upper half of the solicitor's address; 0 with {@code toLow} 0, for one without an
   *     address: the answer is multicast
   */
  public static void writeAdvertisement(
      MemorySegment memory,
      long at,
      long mac,
      long targetHigh,
      long targetLow,
      long toMac,
      long toHigh,
      long toLow) {
    memory.set(LONG, at + SOURCE, targetHigh);
    memory.set(LONG, at + SOURCE + 8, targetLow);
    memory.set(LONG, at + TARGET, targetHigh);
    memory.set(LONG, at + TARGET + 8, targetLow);
    if ((toHigh | toLow) == 0) {
      long all = IpAddress.groupMac(LINK_GROUP_HIGH, ALL_NODES_LOW);
      write(
          memory,
          at,
          ADVERTISEMENT,
          OVERRIDE,
          TARGET_OPTION,
          mac,
          all,
          LINK_GROUP_HIGH,
          ALL_NODES_LOW);
    } else {
      int flags = SOLICITED | OVERRIDE;
      write(memory, at, ADVERTISEMENT, flags, TARGET_OPTION, mac, toMac, toHigh, toLow);
    }
  }

  /** Source and target are written. */
  private static void write(
      MemorySegment memory,
      long at,
      int type,
      int flags,
      int option,
      long mac,
      long toMac,
      long toHigh,
      long toLow) {
    memory.set(LONG, at, toMac << 16 | mac >>> 32);
    memory.set(INT, at + 8, (int) mac);
    memory.set(SHORT, at + TYPE_AT, (short) FrameLayout.IPV6_TYPE);
    int length = SHORTEST + OPTION_SIZE;
    memory.set(
        LONG, at + IP, (long) IpHeader.IPV6_VERSION << 60 | length << 16 | ICMP << 8 | HOP_LIMIT);
    memory.set(LONG, at + DESTINATION, toHigh);
    memory.set(LONG, at + DESTINATION + 8, toLow);
    memory.set(INT, at + MESSAGE, type << 24);
    memory.set(INT, at + FLAGS, flags);
    memory.set(LONG, at + OPTIONS, (long) option << 56 | 1L << 48 | mac);
    memory.set(SHORT, at + MESSAGE + 2, (short) ~sum(memory, at, length));
  }

  /** The ones' complement sum of pseudo header and message: all ones with its checksum. */
  private static int sum(MemorySegment memory, long at, int length) {
    return InternetChecksum.sum(
        (long) length + ICMP, memory, at + SOURCE, MESSAGE - SOURCE + length);
  }

  /** Whether a frame is a valid solicitation or advertisement (RFC 4861, 7.1). */
  public static boolean isNeighbor(MemorySegment memory, long at, int length) {
    if (length < MESSAGE + SHORTEST
        || memory.get(SHORT, at + TYPE_AT) != (short) FrameLayout.IPV6_TYPE) {
      return false;
    }
    long first = memory.get(LONG, at + IP);
    int size = (int) (first >>> 16) & 0xffff;
    int type = type(memory, at);
    return first >>> 60 == IpHeader.IPV6_VERSION
        && (first & 0xffff) == (ICMP << 8 | HOP_LIMIT)
        && (type == SOLICITATION || type == ADVERTISEMENT)
        && memory.get(ValueLayout.JAVA_BYTE, at + MESSAGE + 1) == 0
        && size >= SHORTEST
        && size % OPTION_SIZE == 0
        && size <= length - MESSAGE
        && !isGroup(memory, at + TARGET)
        && areOptions(memory, at + OPTIONS, at + MESSAGE + size)
        && (type == SOLICITATION
            ? isFromOne(memory, at, size)
            : !isGroup(memory, at + DESTINATION) || (memory.get(INT, at + FLAGS) & SOLICITED) == 0)
        && sum(memory, at, size) == 0xffff;
  }

  /**
   * A solicitor has an address; or has none and solicits the group of the target without an option.
   */
  private static boolean isFromOne(MemorySegment memory, long at, int size) {
    return (senderHigh(memory, at) | senderLow(memory, at)) != 0
        || memory.get(LONG, at + DESTINATION) == LINK_GROUP_HIGH
            && memory.get(LONG, at + DESTINATION + 8)
                == IpAddress.lowOfSolicitedNode(targetLow(memory, at))
            && option(memory, at, SOURCE_OPTION, size) == 0;
  }

  private static boolean isGroup(MemorySegment memory, long address) {
    return (memory.get(ValueLayout.JAVA_BYTE, address) & 0xff) == GROUP_BYTE;
  }

  /** Options have a size of 8 bytes and more, and end where the message does. */
  private static boolean areOptions(MemorySegment memory, long at, long end) {
    long next = at;
    while (next < end) {
      int size = OPTION_SIZE * (memory.get(ValueLayout.JAVA_BYTE, next + 1) & 0xff);
      if (size == 0) {
        return false;
      }
      next += size;
    }
    return next == end;
  }

  private static int type(MemorySegment memory, long at) {
    return memory.get(ValueLayout.JAVA_BYTE, at + MESSAGE) & 0xff;
  }

  /** Whether a frame is a solicitation. */
  public static boolean isSolicitation(MemorySegment memory, long at) {
    return type(memory, at) == SOLICITATION;
  }

  /** Whether an advertisement overrides a known entry. */
  public static boolean overrides(MemorySegment memory, long at) {
    return (memory.get(INT, at + FLAGS) & OVERRIDE) != 0;
  }

  /** The upper half of the sender's address, :: for one without an address. */
  public static long senderHigh(MemorySegment memory, long at) {
    return memory.get(LONG, at + SOURCE);
  }

  /** The lower half of the sender's address. */
  public static long senderLow(MemorySegment memory, long at) {
    return memory.get(LONG, at + SOURCE + 8);
  }

  /** The upper half of the target address. */
  public static long targetHigh(MemorySegment memory, long at) {
    return memory.get(LONG, at + TARGET);
  }

  /** The lower half of the target address. */
  public static long targetLow(MemorySegment memory, long at) {
    return memory.get(LONG, at + TARGET + 8);
  }

  /**
   * The MAC in the option: that of the sender of a solicitation, that of the target of an
   * advertisement; 0 when there is none.
   */
  public static long mac(MemorySegment memory, long at) {
    int option = isSolicitation(memory, at) ? SOURCE_OPTION : TARGET_OPTION;
    return option(memory, at, option, memory.get(SHORT, at + IP + 4) & 0xffff);
  }

  /** The source MAC of a frame. */
  public static long frameMac(MemorySegment memory, long at) {
    return memory.get(LONG, at + 4) & 0xffff_ffff_ffffL;
  }

  private static long option(MemorySegment memory, long at, int type, int size) {
    long end = at + MESSAGE + size;
    for (long next = at + OPTIONS; next < end; ) {
      long option = memory.get(LONG, next);
      if (option >>> 48 == (type << 8 | 1)) {
        return option & 0xffff_ffff_ffffL;
      }
      next += OPTION_SIZE * (option >>> 48 & 0xff);
    }
    return 0;
  }
}
