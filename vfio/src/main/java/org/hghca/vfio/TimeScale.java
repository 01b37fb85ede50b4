package org.hghca.vfio;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * How many times slower a function is than a card, {@code slow=1000} in its locator: a logic
 * simulator needs a second for what a card does in a millisecond. Everything that gives up after
 * some time, or asks the card from time to time, measures the time of the card with this. A time
 * that somebody writes out, such as {@code limit=PT1M}, is not stretched. Thread-safe.
 *
 * @param factor 1 for a card, up to {@link #MOST}
 */
public record TimeScale(int factor) {
  /** The most that a locator can ask for: a time-out of ten seconds is then one of four months. */
  public static final int MOST = 1_000_000;

  /** The time of a card. */
  public static final TimeScale CARD = new TimeScale(1);

  public TimeScale {
    if (factor < 1 || factor > MOST) {
      throw new IllegalArgumentException(
          "a time scale must be between 1 and " + MOST + ", not " + factor);
    }
  }

  /**
   * The time scale that a locator names.
   *
   * @throws VfioException {@code INVALID} when its value must be a whole number from 1 to {@link
   *     #MOST}
   */
  public static TimeScale of(Locator locator) {
    String text = locator.parameter(DriverParameter.SLOW.key()).orElse("1");
    try {
      return new TimeScale(Integer.parseInt(text));
    } catch (IllegalArgumentException e) {
      throw new VfioException(
          VfioException.Reason.INVALID,
          "locator '%s': slow=%s must be a whole number from 1 to %d"
              .formatted(locator, text, MOST),
          e);
    }
  }

  /** How long we see a function take for what takes a card so long. */
  public Duration stretch(Duration ofCard) {
    return ofCard.multipliedBy(factor);
  }

  /**
   * A clock of the card's time: as {@link System#nanoTime}, and {@code factor} times slower. Only
   * differences mean something.
   */
  public long nanoTime() {
    return Math.floorDiv(System.nanoTime(), factor);
  }

  /** As {@link LockSupport#parkNanos(Object, long)}, in the card's time. */
  public void parkNanos(Object blocker, long ofCard) {
    LockSupport.parkNanos(blocker, Math.multiplyExact(ofCard, factor));
  }
}
