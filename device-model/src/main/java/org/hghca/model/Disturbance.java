package org.hghca.model;

import java.time.Duration;

/**
 * The disturbance of one direction of a {@link Cable}, or of the way from a {@link Hub} or a
 * network outside of this process to an HCA. Each rate is the share of affected packets, 0 to 1,
 * drawn for each packet independently.
 *
 * @param drop packets that never arrive
 * @param duplicate packets that arrive twice; both copies may be disturbed again
 * @param reorder packets that one to four later ones overtake, or that arrive some microseconds
 *     late if none follow
 * @param corrupt packets in which a bit is flipped, so that the port at the other end drops them
 * @param delay packets that arrive late, each by a random time
 * @param maxDelay the longest delay, up to a day
 * @param seed of the random numbers: in an inline simulation the same seed gives the same result
 */
public record Disturbance(
    double drop,
    double duplicate,
    double reorder,
    double corrupt,
    double delay,
    Duration maxDelay,
    long seed) {

  private static final Duration DAY = Duration.ofDays(1);

  /** Every packet arrives once, at once and in order. */
  public static final Disturbance NONE =
      new Disturbance(0, 0, 0, 0, 0, Duration.ofNanos(100_000), 1);

  /**
   * @throws IllegalArgumentException for a rate outside of 0 to 1, or a delay that is not from one
   *     nanosecond to a day
   */
  public Disturbance {
    checkRate("drop", drop);
    checkRate("duplicate", duplicate);
    checkRate("reorder", reorder);
    checkRate("corrupt", corrupt);
    checkRate("delay", delay);
    if (!maxDelay.isPositive() || maxDelay.compareTo(DAY) > 0) {
      throw new IllegalArgumentException(
          "the longest delay is %s: give one above 0 and up to a day".formatted(maxDelay));
    }
  }

  private static void checkRate(String name, double rate) {
    if (!(rate >= 0 && rate <= 1)) {
      throw new IllegalArgumentException("%s is %s: give a rate of 0 to 1".formatted(name, rate));
    }
  }

  public Disturbance withDrop(double rate) {
    return new Disturbance(rate, duplicate, reorder, corrupt, delay, maxDelay, seed);
  }

  public Disturbance withDuplicate(double rate) {
    return new Disturbance(drop, rate, reorder, corrupt, delay, maxDelay, seed);
  }

  public Disturbance withReorder(double rate) {
    return new Disturbance(drop, duplicate, rate, corrupt, delay, maxDelay, seed);
  }

  public Disturbance withCorrupt(double rate) {
    return new Disturbance(drop, duplicate, reorder, rate, delay, maxDelay, seed);
  }

  public Disturbance withDelay(double rate, Duration longest) {
    return new Disturbance(drop, duplicate, reorder, corrupt, rate, longest, seed);
  }

  public Disturbance withSeed(long value) {
    return new Disturbance(drop, duplicate, reorder, corrupt, delay, maxDelay, value);
  }

  /** Whether no packet is disturbed. */
  boolean isNone() {
    return drop == 0 && duplicate == 0 && reorder == 0 && corrupt == 0 && delay == 0;
  }
}
