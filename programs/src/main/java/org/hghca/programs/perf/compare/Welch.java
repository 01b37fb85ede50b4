package org.hghca.programs.perf.compare;

import java.util.List;
import java.util.Optional;

/**
 * The confidence interval of the difference of two means whose variances may differ (B. L. Welch,
 * 1947), with the quantiles of Student's t.
 */
final class Welch {
  private static final int STEPS = 4000;
  private static final int HALVINGS = 60;

  /** Of a difference. */
  record Interval(double low, double high) {
    boolean spansZero() {
      return low <= 0 && high >= 0;
    }
  }

  private Welch() {}

  /**
   * The interval of the mean of the second less that of the first.
   *
   * @param confidence more than 0, less than 1
   * @return empty when one of them has less than two values
   */
  static Optional<Interval> interval(List<Double> first, List<Double> second, double confidence) {
    if (first.size() < 2 || second.size() < 2) {
      return Optional.empty();
    }
    double difference = mean(second) - mean(first);
    double a = variance(first) / first.size();
    double b = variance(second) / second.size();
    if (a + b == 0) {
      return Optional.of(new Interval(difference, difference));
    }
    double freedom = (a + b) * (a + b) / (a * a / (first.size() - 1) + b * b / (second.size() - 1));
    double half = quantile(freedom, confidence) * Math.sqrt(a + b);
    return Optional.of(new Interval(difference - half, difference + half));
  }

  static double mean(List<Double> values) {
    return values.stream().mapToDouble(value -> value).average().orElse(0);
  }

  private static double variance(List<Double> values) {
    double mean = mean(values);
    return values.stream().mapToDouble(v -> (v - mean) * (v - mean)).sum() / (values.size() - 1);
  }

  /**
   * The t within which, on both sides of 0, a share of Student's distribution is. With {@code t =
   * sqrt(freedom) * tan(angle)} its density is a power of the cosine.
   *
   * @param freedom degrees, 1 or more
   */
  static double quantile(double freedom, double share) {
    double whole = area(freedom, Math.PI / 2);
    double low = 0;
    double high = Math.PI / 2;
    for (int i = 0; i < HALVINGS; i++) {
      double middle = (low + high) / 2;
      if (area(freedom, middle) < share * whole) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return Math.sqrt(freedom) * Math.tan(low);
  }

  /** The integral of the density up to an angle, by Simpson's rule. */
  private static double area(double freedom, double angle) {
    double step = angle / STEPS;
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
      int weight = i == 0 || i == STEPS ? 1 : i % 2 == 0 ? 2 : 4;
      sum += weight * Math.pow(Math.cos(i * step), freedom - 1);
    }
    return sum * step / 3;
  }
}
