package org.hghca.programs.perf.page;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.DoubleUnaryOperator;

/**
 * An axis of a plot.
 *
 * @param title what it shows, with the unit
 * @param scale of values; increasing
 * @param low the first value
 * @param high the last value, more than the first
 * @param ticks marked values
 */
record Axis(String title, DoubleUnaryOperator scale, double low, double high, List<Tick> ticks) {
  /** A larger ratio of two values is shown by their logarithms. */
  private static final double LARGE_RATIO = 50;

  private static final int MOST_SIZES = 12;
  private static final int TICKS = 5;
  private static final int KIBI = 1024;
  private static final double HALF = 0.5;

  /** A marked value. */
  record Tick(double value, String label) {}

  /** Where a value is: 0 at the first, 1 at the last. */
  double at(double value) {
    double first = scale.applyAsDouble(low);
    return (scale.applyAsDouble(value) - first) / (scale.applyAsDouble(high) - first);
  }

  /** Powers of 2 of bytes. */
  static Axis sizes(double[] bytes) {
    double low = Arrays.stream(bytes).min().orElse(1);
    double high = Math.max(2 * low, Arrays.stream(bytes).max().orElse(1));
    int first = (int) Math.ceil(Math.log(low) / Math.log(2));
    int last = (int) Math.floor(Math.log(high) / Math.log(2));
    int step = (last - first) / MOST_SIZES + 1;
    List<Tick> ticks = new ArrayList<>();
    for (int power = first; power <= last; power += step) {
      ticks.add(new Tick(1L << power, size(1L << power)));
    }
    return new Axis("bytes of a message", Math::log, low, high, ticks);
  }

  /** Bytes in the largest binary unit that divides them, such as {@code 4Ki}. */
  static String size(long bytes) {
    if (bytes >= KIBI * KIBI && bytes % (KIBI * KIBI) == 0) {
      return bytes / (KIBI * KIBI) + "Mi";
    }
    return bytes >= KIBI && bytes % KIBI == 0 ? bytes / KIBI + "Ki" : Long.toString(bytes);
  }

  /** Values from 0, or logarithms of positive ones that differ much. */
  static Axis amounts(String title, double[] values) {
    double high = Arrays.stream(values).max().orElse(0);
    double low = Arrays.stream(values).min().orElse(0);
    if (high <= 0) {
      return linear(title, 1);
    }
    return low > 0 && high / low > LARGE_RATIO
        ? logarithmic(title, low, high)
        : linear(title, high);
  }

  /** Values from 0 to the largest. */
  static Axis span(String title, double[] values) {
    return linear(title, Arrays.stream(values).max().orElse(1));
  }

  private static Axis linear(String title, double most) {
    double step = step(most / TICKS);
    List<Tick> ticks = new ArrayList<>();
    int count = (int) Math.ceil(most / step);
    for (int i = 0; i <= count; i++) {
      ticks.add(new Tick(i * step, number(i * step)));
    }
    return new Axis(title, DoubleUnaryOperator.identity(), 0, count * step, ticks);
  }

  /** The next of 1, 2, 5, 10 and so on. */
  private static double step(double least) {
    double power = Math.pow(10, Math.floor(Math.log10(least)));
    for (int factor : new int[] {1, 2, 5}) {
      if (factor * power >= least) {
        return factor * power;
      }
    }
    return 10 * power;
  }

  private static Axis logarithmic(String title, double least, double most) {
    int first = (int) Math.floor(Math.log10(least));
    int last = (int) Math.ceil(Math.log10(most));
    int step = (last - first) / (TICKS + 2) + 1;
    List<Tick> ticks = new ArrayList<>();
    for (int power = first; power <= last; power += step) {
      ticks.add(new Tick(Math.pow(10, power), number(Math.pow(10, power))));
    }
    return new Axis(title, Math::log, Math.pow(10, first), Math.pow(10, last), ticks);
  }

  /**
   * Shares of 1, with as much room from 90 % to 99 % as from 99 % to 99.9 %.
   *
   * @param count of samples: the last share is that below the longest of them
   */
  static Axis percentiles(int count) {
    double high = 1 - 1.0 / Math.max(count, 2);
    List<Tick> ticks = new ArrayList<>(List.of(new Tick(0, "0 %")));
    if (high > HALF) {
      ticks.add(new Tick(HALF, "50 %"));
    }
    for (double rest = 0.1; 1 - rest <= high; rest /= 10) {
      ticks.add(new Tick(1 - rest, number(100 - 100 * rest) + " %"));
    }
    return new Axis("percentile", share -> -Math.log1p(-share), 0, high, ticks);
  }

  /** A number in at most six digits, without an exponent. */
  static String number(double value) {
    return new BigDecimal(value).round(new MathContext(6)).stripTrailingZeros().toPlainString();
  }
}
