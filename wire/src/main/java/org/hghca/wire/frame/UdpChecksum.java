package org.hghca.wire.frame;

import static org.hghca.wire.frame.Bytes.INT;
import static org.hghca.wire.frame.Bytes.SHORT;
import static org.hghca.wire.frame.Bytes.byteAt;

import java.lang.foreign.MemorySegment;

/** The checksum of UDP over IPv4 (RFC 768). */
final class UdpChecksum {
  private UdpChecksum() {}

  /**
   * The ones' complement sum of a datagram and its pseudo header, without its end-around
   * complement: all ones for a datagram with a right checksum.
   *
   * @param ip offset of the IPv4 header, which has no options
   * @param length bytes of the UDP header and its payload
   */
  static int sum(MemorySegment memory, long ip, int length) {
    long sum = IpHeader.UDP + (long) length;
    long at = ip + 12; // the addresses
    long end = ip + IpHeader.IPV4_SIZE + length;
    for (; at + Integer.BYTES <= end; at += Integer.BYTES) {
      sum += Integer.toUnsignedLong(memory.get(INT, at));
    }
    if (at + Short.BYTES <= end) {
      sum += memory.get(SHORT, at) & 0xffff;
      at += Short.BYTES;
    }
    if (at < end) {
      sum += (long) byteAt(memory, at) << 8;
    }
    sum = (sum >>> 32) + (sum & 0xffff_ffffL);
    sum = (sum >>> 16) + (sum & 0xffff);
    sum = (sum >>> 16) + (sum & 0xffff);
    return (int) ((sum >>> 16) + (sum & 0xffff));
  }
}
