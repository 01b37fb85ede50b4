package org.hghca.programs.perf.result;

/**
 * The result of a latency test by time.
 *
 * @param size bytes of a message
 * @param iterations that count
 * @param average microseconds
 * @param perSecond transactions a second
 */
public record DurationLatency(long size, long iterations, double average, double perSecond)
    implements Figure {
  private static final double NANOS = 1000;
  private static final double SECOND = 1e9;

  /**
   * Of what was counted.
   *
   * @param halves whether half of a round trip counts
   */
  public static DurationLatency of(long size, long iterations, long nanos, boolean halves) {
    double average = iterations == 0 ? 0 : nanos / NANOS / (halves ? 2 : 1) / iterations;
    return new DurationLatency(
        size, iterations, average, nanos == 0 ? 0 : iterations * SECOND / nanos);
  }
}
