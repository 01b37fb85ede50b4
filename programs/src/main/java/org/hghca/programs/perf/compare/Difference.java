package org.hghca.programs.perf.compare;

import java.util.List;
import java.util.Optional;

/**
 * The old and the new values of a series.
 *
 * @param series what they have in common
 * @param before at least one
 * @param after at least one
 * @param confidence of the interval, more than 0, less than 1
 */
public record Difference(
    Series series, List<Double> before, List<Double> after, double confidence) {
  /** What repetition shows. */
  public enum Verdict {
    BETTER("better"),
    WORSE("worse"),
    NOT_SHOWN("no difference shown"),
    NOT_REPEATED("not repeated");

    private final String text;

    Verdict(String text) {
      this.text = text;
    }

    public String text() {
      return text;
    }
  }

  /** The old mean. */
  public double oldMean() {
    return Welch.mean(before);
  }

  /** The new mean. */
  public double newMean() {
    return Welch.mean(after);
  }

  /** Percent of the old mean; 0 when that is 0. */
  public double percent() {
    return percent(newMean() - oldMean());
  }

  private double percent(double difference) {
    return oldMean() == 0 ? 0 : 100 * difference / oldMean();
  }

  private Optional<Welch.Interval> interval() {
    return Welch.interval(before, after, confidence);
  }

  /** The lower end of the interval in percent of the old mean; empty if a side has one value. */
  public Optional<Double> low() {
    return interval().map(interval -> percent(interval.low()));
  }

  /** The upper end. */
  public Optional<Double> high() {
    return interval().map(interval -> percent(interval.high()));
  }

  /** What is shown. */
  public Verdict verdict() {
    return interval()
        .map(
            interval ->
                interval.spansZero()
                    ? Verdict.NOT_SHOWN
                    : loss() < 0 ? Verdict.BETTER : Verdict.WORSE)
        .orElse(Verdict.NOT_REPEATED);
  }

  /** By how many percent it is worse; negative when it is better. */
  private double loss() {
    return series.metric().isMoreBetter() ? -percent() : percent();
  }

  /** Whether it is worse by more than some percent, and nothing speaks against it. */
  public boolean exceeds(double most) {
    return verdict() != Verdict.NOT_SHOWN && loss() > most;
  }
}
