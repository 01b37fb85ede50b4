package org.hghca.wire.frame;

import static org.hghca.wire.frame.Bytes.INT;
import static org.hghca.wire.frame.Bytes.LONG;
import static org.hghca.wire.frame.Bytes.SHORT;

import java.lang.foreign.MemorySegment;
import org.hghca.wire.Packet;

/**
 * The IP header in front of UDP, from a packet's fields. IPv4 (RFC 791) has no options, is never to
 * be fragmented, and has a right checksum; IPv6 (RFC 8200) has no further headers.
 *
 * <pre>
 *        IPv4                                       IPv6
 * 00h  | 45 | class | total length          |     | 6 | class | flow label     |
 * 04h  | identification | flags | offset    |     | payload length | 17 | hops |
 * 08h  | hops | 17 | header checksum        |     | source address             |
 * 0Ch  | source address                     |
 * 10h  | destination address                |
 * 18h  |                                    |     | destination address        |
 * </pre>
 */
public final class IpHeader {
  /** Bytes of an IPv4 header. */
  public static final int IPV4_SIZE = 20;

  /** Bytes of an IPv6 header. */
  public static final int IPV6_SIZE = 40;

  /** Offset behind the identification of IPv4. */
  static final int BEHIND_IDENTIFICATION = 6;

  static final int IPV4_VERSION_AND_SIZE = 0x45;
  static final int IPV6_VERSION = 6;
  static final int UDP = 17;
  static final int DO_NOT_FRAGMENT = 0x4000;

  static final int CHECKSUM = 10;
  private static final long LOW = 0xffff_ffffL;

  private IpHeader() {}

  /**
   * Writes an IPv4 header.
   *
   * @param at byte offset in the memory
   * @param payload bytes that follow the header
   */
  public static void writeIpv4(MemorySegment memory, long at, Packet packet, int payload) {
    int length = IPV4_SIZE + payload;
    long first =
        (long) IPV4_VERSION_AND_SIZE << 56
            | (packet.trafficClass & 0xffL) << 48
            | (length & 0xffffL) << 32
            | (packet.identification & 0xffffL) << 16
            | DO_NOT_FRAGMENT;
    long second = (packet.hopLimit & 0xffL) << 56 | (long) UDP << 48 | packet.sourceIpLow & LOW;
    int third = (int) packet.destinationIpLow;
    memory.set(LONG, at, first);
    memory.set(LONG, at + 8, second);
    memory.set(INT, at + 16, third);
    memory.set(SHORT, at + CHECKSUM, (short) ~sum(first, second, third));
  }

  /**
   * Writes an IPv6 header.
   *
   * @param at byte offset in the memory
   * @param payload bytes that follow the header
   */
  public static void writeIpv6(MemorySegment memory, long at, Packet packet, int payload) {
    memory.set(
        LONG,
        at,
        (long) IPV6_VERSION << 60
            | (packet.trafficClass & 0xffL) << 52
            | (packet.flowLabel & 0xf_ffffL) << 32
            | (payload & 0xffffL) << 16
            | UDP << 8
            | packet.hopLimit & 0xff);
    memory.set(LONG, at + 8, packet.sourceIpHigh);
    memory.set(LONG, at + 16, packet.sourceIpLow);
    memory.set(LONG, at + 24, packet.destinationIpHigh);
    memory.set(LONG, at + 32, packet.destinationIpLow);
  }

  /** The ones' complement sum of an IPv4 header's words of 16 bits: all ones with its checksum. */
  static int sum(long first, long second, int third) {
    long sum = (first >>> 32) + (first & LOW) + (second >>> 32) + (second & LOW) + (third & LOW);
    sum = (sum >>> 16) + (sum & 0xffff);
    sum = (sum >>> 16) + (sum & 0xffff);
    return (int) ((sum >>> 16) + (sum & 0xffff));
  }
}
