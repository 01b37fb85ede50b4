package org.hghca.wire.frame;

import static org.hghca.wire.frame.Bytes.INT;
import static org.hghca.wire.frame.Bytes.LONG;
import static org.hghca.wire.frame.Bytes.SHORT;

import java.lang.foreign.MemorySegment;
import org.hghca.wire.IpAddress;
import org.hghca.wire.PortAddresses;

/**
 * Frames by which a host tells switches and routers of its IPv6 multicast groups: reports of
 * Multicast Listener Discovery, version 2 (RFC 3810), of one group, from any source.
 *
 * <pre>
 *  00h | 33:33:00:00:00:16 | source MAC | 86dd |
 *  0Eh | IPv6: payload length 24h, next header 00h, hop limit 1 |
 *  16h | source address, link-local or :: |  26h | ff02::16 |
 *  36h | hop-by-hop options: next header 3Ah, "router alert" for MLD, padding |
 *  3Eh | 8f | 0 | checksum | 0 | 0001 records |
 *  46h | record: as in {@link MembershipFrame} | 0 | 0 sources |
 *  4Ah | group |
 * </pre>
 */
public final class ListenerFrame {
  /** Bytes of a frame that is written. */
  public static final int SIZE = 90;

  private static final int IP = FrameLayout.ETHERNET_SIZE;
  private static final int ADDRESSES = IP + 8;
  private static final int OPTIONS = IP + IpHeader.IPV6_SIZE;
  private static final int OPTIONS_SIZE = 8;
  private static final int MESSAGE = OPTIONS + OPTIONS_SIZE;
  private static final int MESSAGE_SIZE = 28;

  /** Bytes of a message of version 1, the shortest. */
  private static final int SHORTEST = 24;

  private static final int HOP_BY_HOP = 0;
  private static final int ICMP = 58;
  private static final int QUERY = 130;

  /** The last message of version 1. */
  private static final int DONE = 132;

  private static final int REPORT = 143;

  /** The option "router alert" with value 0, and two bytes of padding. */
  private static final long ROUTER_ALERT = 0x0502_0000_0100L;

  /** The same option with its value 0. */
  private static final long ALERT = 0x0502_0000L;

  /** All hosts, to whom general queries go: ff02::1. */
  private static final long HOSTS_LOW = 1;

  /** Routers of version 2: ff02::16. */
  private static final long ROUTERS_LOW = 0x16;

  private ListenerFrame() {}

  /**
   * Writes a report.
   *
   * @param sourceHigh upper half of the link-local address of the port; 0 with {@code sourceLow} 0,
   *     where it has none
   * @param record {@link MembershipFrame#JOINS}, {@link MembershipFrame#LEAVES} or {@link
   *     MembershipFrame#IS_IN}
   */
  public static void write(
      MemorySegment memory,
      long at,
      long mac,
      long sourceHigh,
      long sourceLow,
      int record,
      long groupHigh,
      long groupLow) {
    long routersMac = IpAddress.groupMac(IpAddress.LINK_GROUP_HIGH, ROUTERS_LOW);
    memory.set(LONG, at, routersMac << 16 | mac >>> 32);
    memory.set(INT, at + 8, (int) mac);
    memory.set(SHORT, at + 12, (short) FrameLayout.IPV6_TYPE);
    long length = OPTIONS_SIZE + MESSAGE_SIZE;
    memory.set(
        LONG, at + IP, (long) IpHeader.IPV6_VERSION << 60 | length << 16 | HOP_BY_HOP << 8 | 1);
    memory.set(LONG, at + ADDRESSES, sourceHigh);
    memory.set(LONG, at + ADDRESSES + 8, sourceLow);
    memory.set(LONG, at + ADDRESSES + 16, IpAddress.LINK_GROUP_HIGH);
    memory.set(LONG, at + ADDRESSES + 24, ROUTERS_LOW);
    memory.set(LONG, at + OPTIONS, (long) ICMP << 56 | ROUTER_ALERT);
    memory.set(INT, at + MESSAGE, REPORT << 24);
    memory.set(INT, at + MESSAGE + 4, 1);
    memory.set(INT, at + MESSAGE + 8, record << 24);
    memory.set(LONG, at + MESSAGE + 12, groupHigh);
    memory.set(LONG, at + MESSAGE + 20, groupLow);
    long pseudo = (long) ICMP + MESSAGE_SIZE + InternetChecksum.sum(0, memory, at + ADDRESSES, 32);
    int sum = InternetChecksum.sum(pseudo, memory, at + MESSAGE, MESSAGE_SIZE);
    memory.set(SHORT, at + MESSAGE + 2, (short) ~sum);
  }

  /**
   * Whether a frame is one of the protocol, of any version, behind the option of a router alert and
   * no other header.
   */
  public static boolean isListener(MemorySegment memory, long at, int length) {
    if (length < MESSAGE + SHORTEST
        || memory.get(SHORT, at + 12) != (short) FrameLayout.IPV6_TYPE
        || Bytes.byteAt(memory, at + IP + 6) != HOP_BY_HOP
        || Bytes.byteAt(memory, at + OPTIONS) != ICMP
        || Bytes.byteAt(memory, at + OPTIONS + 1) != 0) {
      return false;
    }
    int type = Bytes.byteAt(memory, at + MESSAGE);
    return type >= QUERY && type <= DONE || type == REPORT;
  }

  /**
   * Whether a frame of the protocol asks which groups there are, by the rules of RFC 3810, 6.2:
   * from a link-local address, with hop limit 1 and a router alert; to all hosts, the group that it
   * asks for or an address of the host; with a good checksum.
   */
  public static boolean isQuery(MemorySegment memory, long at, int length, PortAddresses own) {
    int payload = memory.get(SHORT, at + IP + 4) & 0xffff;
    int size = payload - OPTIONS_SIZE;
    if (Bytes.byteAt(memory, at + MESSAGE) != QUERY || size < SHORTEST || size > length - MESSAGE) {
      return false;
    }
    long alert = memory.get(LONG, at + OPTIONS) & 0xffff_ffff_ffffL;
    long pseudo = (long) ICMP + size + InternetChecksum.sum(0, memory, at + ADDRESSES, 32);
    return Bytes.byteAt(memory, at + IP + 7) == 1
        && memory.get(LONG, at + ADDRESSES) == IpAddress.LINK_LOCAL_HIGH
        && (alert >>> 16 == ALERT || (alert & 0xffff_ffffL) == ALERT)
        && isForHost(memory, at, own)
        && InternetChecksum.sum(pseudo, memory, at + MESSAGE, size) == 0xffff;
  }

  private static boolean isForHost(MemorySegment memory, long at, PortAddresses own) {
    long high = memory.get(LONG, at + ADDRESSES + 16);
    long low = memory.get(LONG, at + ADDRESSES + 24);
    return high == IpAddress.LINK_GROUP_HIGH && low == HOSTS_LOW
        || high == groupHigh(memory, at) && low == groupLow(memory, at)
        || own.has(high, low);
  }

  /** Upper half of the group that a query asks for; 0 for all. */
  public static long groupHigh(MemorySegment memory, long at) {
    return memory.get(LONG, at + MESSAGE + 8);
  }

  /** Its lower half. */
  public static long groupLow(MemorySegment memory, long at) {
    return memory.get(LONG, at + MESSAGE + 16);
  }

  /** The maximum response time of a query (RFC 3810, 5.1.3). */
  public static long responseNanos(MemorySegment memory, long at) {
    long code = memory.get(SHORT, at + MESSAGE + 4) & 0xffff;
    int size = (memory.get(SHORT, at + IP + 4) & 0xffff) - OPTIONS_SIZE;
    boolean isFloat = size > SHORTEST && code >= 0x8000; // of version 2
    long millis = isFloat ? (code & 0xfff | 0x1000) << ((code >>> 12 & 7) + 3) : code;
    return millis * 1_000_000L;
  }
}
