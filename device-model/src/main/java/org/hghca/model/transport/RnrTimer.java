package org.hghca.model.transport;

/** The RNR NAK timer values (InfiniBand specification, table 45). */
final class RnrTimer {
  /** In units of 10 us, by code. */
  private static final int[] UNITS = {
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
    2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152
  };

  private RnrTimer() {}

  /** The time in nanoseconds behind a code of 5 bits. */
  static long nanos(int code) {
    return UNITS[code & 0x1f] * 10_000L;
  }
}
