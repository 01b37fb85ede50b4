package org.hghca.programs.perf.result;

import java.util.Arrays;

/**
 * The result of a latency test, in microseconds.
 *
 * @param size bytes of a message
 * @param iterations that were made
 * @param min the shortest
 * @param max the longest that is not cut off
 * @param typical the median
 * @param average of all that are not cut off
 * @param deviation standard deviation of the same
 * @param p99 99 % of them were shorter
 * @param p999 99.9 % of them were shorter
 * @param samples all of them in their order
 */
public record LatencyResult(
    long size,
    long iterations,
    double min,
    double max,
    double typical,
    double average,
    double deviation,
    double p99,
    double p999,
    double[] samples)
    implements Figure {
  /** The longest samples, which perftest leaves out of its statistics. */
  public static final int TAIL = 2;

  private static final double NANOS = 1000;

  /**
   * Of the times at which messages were posted. The distance of two of them is a round trip; of a
   * message that the peer answers by one of its own, half of it counts.
   *
   * @param posted nanoseconds, at least {@link #TAIL} + 2
   * @param halves whether half the distance counts
   */
  public static LatencyResult of(long size, long[] posted, boolean halves) {
    return of(size, posted, Arrays.copyOfRange(posted, 1, posted.length), halves);
  }

  /**
   * Of the times at which messages were due and at which they were answered. A message that could
   * not go when it was due, since the one before was late, has waited since then.
   *
   * @param due nanoseconds
   * @param answered nanoseconds; there may be fewer, but {@link #TAIL} + 1
   */
  public static LatencyResult of(long size, long[] due, long[] answered, boolean halves) {
    double[] samples = new double[Math.min(due.length, answered.length)];
    for (int i = 0; i < samples.length; i++) {
      samples[i] = (answered[i] - due[i]) / (halves ? 2 * NANOS : NANOS);
    }
    double[] sorted = samples.clone();
    Arrays.sort(sorted);
    int count = sorted.length - TAIL;
    double average = Arrays.stream(sorted, 0, count).average().orElse(0);
    double variance =
        Arrays.stream(sorted, 0, count).map(s -> (s - average) * (s - average)).sum() / count;
    return new LatencyResult(
        size,
        due.length,
        sorted[0],
        sorted[count],
        median(sorted, count),
        average,
        Math.sqrt(variance),
        sorted[(int) Math.ceil(count * 0.99)],
        sorted[(int) Math.ceil(count * 0.999)],
        samples);
  }

  /** Those that are not cut off, the shortest first. */
  public double[] sorted() {
    double[] sorted = samples.clone();
    Arrays.sort(sorted);
    return Arrays.copyOf(sorted, sorted.length - TAIL);
  }

  private static double median(double[] sorted, int count) {
    int middle = count / 2;
    return count % 2 == 0 ? (sorted[middle] + sorted[middle - 1]) / 2 : sorted[middle];
  }
}
