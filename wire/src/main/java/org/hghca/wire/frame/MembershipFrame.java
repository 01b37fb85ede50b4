package org.hghca.wire.frame;

import static org.hghca.wire.frame.Bytes.INT;
import static org.hghca.wire.frame.Bytes.LONG;
import static org.hghca.wire.frame.Bytes.SHORT;

import java.lang.foreign.MemorySegment;
import org.hghca.wire.IpAddress;
import org.hghca.wire.PortAddresses;

/**
 * Frames by which a host tells switches and routers of its IPv4 multicast groups: reports of the
 * Internet Group Management Protocol, version 3 (RFC 3376), of one group, from any source, padded
 * to the shortest frame of Ethernet.
 *
 * <pre>
 *  00h | 01:00:5e:00:00:16              | source MAC           |
 *  0Ch | 0800 |
 *  0Eh | IPv4 header with the option "router alert", 24 bytes  |
 *  26h | 22 | 0 | checksum | 0 | 0001 records |
 *  2Eh | record: 4 joins, 3 leaves, 2 is in | 0 | 0 sources |
 *  32h | group |
 * </pre>
 */
public final class MembershipFrame {
  /** Bytes of a frame that is written. */
  public static final int SIZE = 60;

  /** The record of a group that the host is in: the answer to a query. */
  public static final int IS_IN = 2;

  /** The record of a group that the host has left. */
  public static final int LEAVES = 3;

  /** The record of a group that the host has joined. */
  public static final int JOINS = 4;

  private static final int HEADER = 24;
  private static final int IP_AT = FrameLayout.ETHERNET_SIZE;
  private static final int IGMP_AT = IP_AT + HEADER;
  private static final int REPORT_SIZE = 16;
  private static final int PROTOCOL = 2;
  private static final int QUERY = 0x11;
  private static final int REPORT = 0x22;

  /** Routers of version 3: 224.0.0.22, and its Ethernet address. */
  private static final int ROUTERS = 0xe000_0016;

  /** All hosts, to whom general queries go: 224.0.0.1. */
  private static final int HOSTS = 0xe000_0001;

  private static final long TENTH = 100_000_000L;

  private static final long ROUTERS_MAC = 0x0100_5e00_0016L;

  /** Internet control, as RFC 3376 asks. */
  private static final int PRECEDENCE = 0xc0;

  private static final int ROUTER_ALERT = 0x9404_0000;

  private MembershipFrame() {}

  /**
   * Writes a report.
   *
   * @param record {@link #JOINS}, {@link #LEAVES} or {@link #IS_IN}
   */
  public static void write(MemorySegment memory, long at, long mac, int ip, int record, int group) {
    memory.asSlice(at, SIZE).fill((byte) 0);
    memory.set(LONG, at, ROUTERS_MAC << 16 | mac >>> 32);
    memory.set(INT, at + 8, (int) mac);
    memory.set(SHORT, at + 12, (short) FrameLayout.IPV4_TYPE);
    long header = at + IP_AT;
    memory.set(INT, header, 0x4600_0000 | PRECEDENCE << 16 | HEADER + REPORT_SIZE);
    memory.set(INT, header + 4, IpHeader.DO_NOT_FRAGMENT);
    memory.set(INT, header + 8, 1 << 24 | PROTOCOL << 16);
    memory.set(INT, header + 12, ip);
    memory.set(INT, header + 16, ROUTERS);
    memory.set(INT, header + 20, ROUTER_ALERT);
    memory.set(SHORT, header + 10, checksum(memory, header, HEADER));
    long report = at + IGMP_AT;
    memory.set(INT, report, REPORT << 24);
    memory.set(INT, report + 4, 1);
    memory.set(INT, report + 8, record << 24);
    memory.set(INT, report + 12, group);
    memory.set(SHORT, report + 2, checksum(memory, report, REPORT_SIZE));
  }

  private static short checksum(MemorySegment memory, long at, int length) {
    return (short) ~InternetChecksum.sum(0, memory, at, length);
  }

  /** Whether a frame is one of the protocol, of any version. */
  public static boolean isMembership(MemorySegment memory, long at, int length) {
    if (length < IP_AT + IpHeader.IPV4_SIZE + 8
        || memory.get(SHORT, at + 12) != FrameLayout.IPV4_TYPE
        || Bytes.byteAt(memory, at + IP_AT + 9) != PROTOCOL) {
      return false;
    }
    int header = header(memory, at);
    return header >= IpHeader.IPV4_SIZE && length >= IP_AT + header + 8;
  }

  private static int header(MemorySegment memory, long at) {
    return (Bytes.byteAt(memory, at + IP_AT) & 0xf) * Integer.BYTES;
  }

  /**
   * Whether a frame of the protocol asks which groups there are, by the rules: from this network
   * (its time to live is 1), to all hosts, the group that it asks for or an address of the host
   * (RFC 3376, 4.1.12), with good checksums.
   */
  public static boolean isQuery(MemorySegment memory, long at, int length, PortAddresses own) {
    int header = header(memory, at);
    int total = memory.get(SHORT, at + IP_AT + 2) & 0xffff;
    long message = at + IP_AT + header;
    if (Bytes.byteAt(memory, message) != QUERY || total < header + 8 || total > length - IP_AT) {
      return false;
    }
    int to = memory.get(INT, at + IP_AT + 16);
    return Bytes.byteAt(memory, at + IP_AT + 8) == 1
        && (to == HOSTS || to == group(memory, at) || own.has(0, IpAddress.lowOfIpv4(to)))
        && InternetChecksum.sum(0, memory, at + IP_AT, header) == 0xffff
        && InternetChecksum.sum(0, memory, message, total - header) == 0xffff;
  }

  /** The group that a query asks for; 0 for all. */
  public static int group(MemorySegment memory, long at) {
    return memory.get(INT, at + IP_AT + header(memory, at) + 4);
  }

  /** The maximum response time of a query (RFC 3376, 4.1.1); 10 seconds in version 1 (7.2.1). */
  public static long responseNanos(MemorySegment memory, long at) {
    long code = Bytes.byteAt(memory, at + IP_AT + header(memory, at) + 1);
    int total = memory.get(SHORT, at + IP_AT + 2) & 0xffff;
    boolean isVersion3 = total - header(memory, at) > 8;
    if (!isVersion3) {
      return (code == 0 ? 100 : code) * TENTH;
    }
    return (code < 0x80 ? code : (code & 0xf | 0x10) << ((code >>> 4 & 7) + 3)) * TENTH;
  }
}
