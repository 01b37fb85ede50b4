package org.hghca.wire.frame;

import static org.hghca.wire.frame.Bytes.INT;
import static org.hghca.wire.frame.Bytes.LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;

/**
 * The invariant CRC of the frames in one memory: CRC-32 of Ethernet over eight bytes of ones, and
 * everything from the IP header to the padding, with ones in place of what a network may change
 * (InfiniBand specification, volume 1, 7.8.1 and annex A17.3.3): class and hop limit, the IPv6 flow
 * label, the checksums of IPv4 and UDP, and the byte of the BTH that has FECN and BECN. Used by one
 * thread.
 */
final class InvariantCrc {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  /** The bytes before the IP header: the local route header of InfiniBand, as ones. */
  private static final int ROUTE = 8;

  /** Up to the end of the base transport header, which holds the last field that is masked. */
  private static final int IPV4_MASKED = 20 + 8 + 12;

  private static final int IPV6_MASKED = 40 + 8 + 12;

  private final MemorySegment memory;
  private final ByteBuffer bytes;
  private final byte[] masked = new byte[ROUTE + IPV6_MASKED];
  private final CRC32 crc = new CRC32();

  InvariantCrc(MemorySegment memory) {
    this.memory = memory;
    this.bytes = memory.asByteBuffer();
    LONGS.set(masked, 0, -1L);
  }

  /**
   * The CRC of a frame with IPv4.
   *
   * @param ip offset of the IP header
   * @param end offset of the CRC
   */
  int ofIpv4(int ip, int end) {
    mask(ip, 0, 0x00ff_0000_0000_0000L); // class
    mask(ip, 8, 0xff00_ffff_0000_0000L); // hop limit, checksum
    mask(ip, 16, 0);
    mask(ip, 24, 0x0000_ffff_0000_0000L); // UDP checksum
    mask(ip, 32, 0xff00_0000_0000_0000L); // FECN, BECN
    return with(IPV4_MASKED, ip, end);
  }

  /** The CRC of a frame with IPv6; see {@link #ofIpv4}. */
  int ofIpv6(int ip, int end) {
    mask(ip, 0, 0x0fff_ffff_0000_00ffL); // class, flow label, hop limit
    mask(ip, 8, 0);
    mask(ip, 16, 0);
    mask(ip, 24, 0);
    mask(ip, 32, 0);
    mask(ip, 40, 0x0000_0000_0000_ffffL); // UDP checksum
    mask(ip, 48, 0x0000_0000_ff00_0000L); // FECN, BECN
    INTS.set(masked, ROUTE + 56, memory.get(INT, ip + 56));
    return with(IPV6_MASKED, ip, end);
  }

  private void mask(int ip, int at, long ones) {
    LONGS.set(masked, ROUTE + at, memory.get(LONG, ip + at) | ones);
  }

  private int with(int length, int ip, int end) {
    crc.reset();
    crc.update(masked, 0, ROUTE + length);
    bytes.limit(end).position(ip + length);
    crc.update(bytes);
    return (int) crc.getValue();
  }
}
