package org.hghca.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The 40 bytes that precede a datagram in its receive's memory: {@code ibv_grh}. RoCE v1 brings an
 * IPv6-like header of 40 bytes; RoCE v2 over IPv4 leaves the first 20 bytes undefined, and its IPv4
 * header fills the rest.
 *
 * @param sourceGid the sender's address
 * @param destinationGid the address that it sent to
 * @param flowLabel 20 bits; 0 over IPv4
 * @param trafficClass 8 bits; the type of service over IPv4
 * @param hopLimit 8 bits, as they arrived; the time to live over IPv4
 */
public record GlobalRouteHeader(
    Gid sourceGid, Gid destinationGid, int flowLabel, int trafficClass, int hopLimit) {
  /** Bytes of the header. */
  public static final int LENGTH = 40;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int IPV4_HEADER = 20;

  /** Version 4, header of five dwords: there are no options in the 20 bytes. */
  private static final int IPV4 = 0x45;

  private static final int IPV6 = 6;

  /**
   * Reads a header. The bytes before an IPv4 header are undefined, so an IPv4 header is tried first
   * and recognized by its checksum.
   *
   * @param memory at least {@link #LENGTH} bytes, the header first
   * @throws VerbsException EINVAL when there are fewer bytes, or they hold neither form
   */
  public static GlobalRouteHeader of(MemorySegment memory) {
    if (memory.byteSize() < LENGTH) {
      throw new VerbsException(
          Errno.EINVAL,
          "a global route header has %d bytes, not %d".formatted(LENGTH, memory.byteSize()));
    }
    if (isIpv4(memory)) {
      return new GlobalRouteHeader(
          Gid.ofIpv4(memory.get(INT, IPV4_HEADER + 12)),
          Gid.ofIpv4(memory.get(INT, IPV4_HEADER + 16)),
          0,
          memory.get(INT, IPV4_HEADER) >>> 16 & 0xff,
          memory.get(INT, IPV4_HEADER + 8) >>> 24);
    }
    int first = memory.get(INT, 0);
    if (first >>> 28 != IPV6) {
      throw new VerbsException(
          Errno.EINVAL,
          "40 bytes that begin with 0x%08x: not a global route header".formatted(first));
    }
    return new GlobalRouteHeader(
        gid(memory, 8),
        gid(memory, 24),
        first & 0xf_ffff,
        first >>> 20 & 0xff,
        memory.get(INT, 4) & 0xff);
  }

  private static boolean isIpv4(MemorySegment memory) {
    if (memory.get(INT, IPV4_HEADER) >>> 24 != IPV4) {
      return false;
    }
    int sum = 0;
    for (int at = IPV4_HEADER; at < LENGTH; at += 4) {
      int dword = memory.get(INT, at);
      sum += (dword >>> 16) + (dword & 0xffff);
    }
    // At most ten times ffffh: one fold leaves at most 1000fh, a second one 16 bits.
    sum = (sum & 0xffff) + (sum >>> 16);
    sum = (sum & 0xffff) + (sum >>> 16);
    return sum == 0xffff;
  }

  private static Gid gid(MemorySegment memory, long offset) {
    return new Gid(memory.get(LONG, offset), memory.get(LONG, offset + 8));
  }
}
