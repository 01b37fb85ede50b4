package org.hghca.programs.perf.result;

/**
 * The result of a throughput test.
 *
 * @param size bytes of a message
 * @param messages of all queue pairs
 * @param nanos how long they took; 0 when nothing was measured
 * @param peakNanos time of a message in the fastest part; 0 when it was not searched
 */
public record BandwidthResult(long size, long messages, long nanos, double peakNanos) {
  private static final double MEBIBYTE = 1 << 20;
  private static final double GIGABIT_BYTES = 125_000_000;
  private static final double MILLION = 1e6;
  private static final double NANOS = 1e9;

  /** Bytes of a MiB or a Gb. */
  public static double unit(boolean gigabits) {
    return gigabits ? GIGABIT_BYTES : MEBIBYTE;
  }

  /** MiB/s or Gb/s. */
  double average(boolean gigabits) {
    return nanos == 0 ? 0 : size * messages * NANOS / nanos / unit(gigabits);
  }

  /** MiB/s or Gb/s; 0 when it was not searched. */
  double peak(boolean gigabits) {
    return peakNanos == 0 ? 0 : size * NANOS / peakNanos / unit(gigabits);
  }

  /** Millions of messages a second. */
  double messageRate() {
    return nanos == 0 ? 0 : messages * NANOS / nanos / MILLION;
  }

  public BandwidthReport report(boolean gigabits) {
    return new BandwidthReport(size, messages, peak(gigabits), average(gigabits), messageRate());
  }
}
