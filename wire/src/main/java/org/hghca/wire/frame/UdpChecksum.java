package org.hghca.wire.frame;

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
    int addresses = 2 * Integer.BYTES;
    long start = IpHeader.UDP + (long) length;
    return InternetChecksum.sum(start, memory, ip + 12, addresses + length);
  }
}
