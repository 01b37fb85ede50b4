package org.hghca.programs.perf.compare;

import java.util.Comparator;

/**
 * What repeated results have in common.
 *
 * @param test as {@code test} of perftest's {@code test_info}, with the type of connection
 * @param pairs queue pairs
 * @param size bytes of a message
 * @param metric the figure
 */
public record Series(String test, int pairs, long size, Metric metric)
    implements Comparable<Series> {
  private static final Comparator<Series> ORDER =
      Comparator.comparing(Series::test)
          .thenComparingInt(Series::pairs)
          .thenComparingLong(Series::size)
          .thenComparing(Series::metric);

  @Override
  public int compareTo(Series other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return "%s, %d QP, %d bytes, %s".formatted(test, pairs, size, metric.key());
  }
}
