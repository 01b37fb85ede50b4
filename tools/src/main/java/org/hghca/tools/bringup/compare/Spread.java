package org.hghca.tools.bringup.compare;

import java.util.List;
import java.util.Locale;

/**
 * The values of one thing in the rounds of a report.
 *
 * @param low the smallest
 * @param high the largest
 * @param count how many, at least 1
 */
record Spread(double low, double high, int count) {
  /** From as many rounds on, their spread is taken for the noise. */
  private static final int ENOUGH = 5;

  private static final double LEAST_FACTOR = 1.1;
  private static final double LEAST_FACTOR_ONCE = 10;

  static Spread of(List<Double> values) {
    return new Spread(
        values.stream().mapToDouble(value -> value).min().orElseThrow(),
        values.stream().mapToDouble(value -> value).max().orElseThrow(),
        values.size());
  }

  /** Whether both sides have so many rounds that their spread says what noise is. */
  boolean isRepeated(Spread other) {
    return count >= ENOUGH && other.count >= ENOUGH;
  }

  /**
   * Whether repeated ones differ by more than noise: the gap between them is wider than either.
   *
   * @param least a gap up to this is noise
   */
  boolean differs(Spread other, double least) {
    return gap(other) > Math.max(least, Math.max(width(), other.width()))
        && factor(other) > LEAST_FACTOR;
  }

  /**
   * Whether they differ by more than the noise of a busy machine.
   *
   * @param least a gap up to this is noise
   */
  boolean differsWidely(Spread other, double least) {
    return gap(other) > least && factor(other) > LEAST_FACTOR_ONCE;
  }

  /** Between the highest of the lower one and the lowest of the higher one. */
  private double gap(Spread other) {
    return Math.max(low - other.high, other.low - high);
  }

  private double factor(Spread other) {
    return Math.max(low / other.high, other.low / high);
  }

  private double width() {
    return high - low;
  }

  @Override
  public String toString() {
    return low == high
        ? String.format(Locale.ROOT, "%.2f", low)
        : String.format(Locale.ROOT, "%.2f to %.2f", low, high);
  }
}
