package org.hghca.wire.frame;

import static org.hghca.wire.frame.Bytes.INT;
import static org.hghca.wire.frame.Bytes.SHORT;
import static org.hghca.wire.frame.Bytes.byteAt;

import java.lang.foreign.MemorySegment;

/** The checksum of IP, UDP, ICMP and IGMP (RFC 1071). */
final class InternetChecksum {
  private InternetChecksum() {}

  /**
   * The ones' complement sum of 16-bit words, without its complement: all ones where the bytes
   * contain their right checksum.
   *
   * @param start what is added to it, such as the fields of a pseudo header, below 2^32
   * @param length bytes, 64 KiB at most; behind an odd one a 0 is added
   */
  static int sum(long start, MemorySegment memory, long from, int length) {
    long sum = start;
    long at = from;
    long end = from + length;
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
