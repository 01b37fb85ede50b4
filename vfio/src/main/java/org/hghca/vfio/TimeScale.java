package org.hghca.vfio;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * The factor by which a function is slower than a card, {@code slow=1000} in its locator: a logic
 * simulator needs a second for a card's millisecond. All time-outs and polling intervals for the
 * card use this scale. A duration that the user specifies, such as {@code limit=PT1M}, is not
 * scaled. Thread-safe.
 *
 * @param factor 1 for a card, up to {@link #MOST}
 */
public record TimeScale(int factor) {
  /** The maximum in a locator: it turns a time-out of ten seconds into four months. */
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

  /** The real time that corresponds to a duration of the card's time. */
  public Duration stretch(Duration ofCard) {
    return ofCard.multipliedBy(factor);
  }

  /**
   * A clock of the card's time: like {@link System#nanoTime}, and {@code factor} times slower. Only
   * differences are meaningful.
   */
  public long nanoTime() {
    return Math.floorDiv(System.nanoTime(), factor);
  }

  /** As {@link LockSupport#parkNanos(Object, long)}, in the card's time. */
  public void parkNanos(Object blocker, long ofCard) {
    LockSupport.parkNanos(blocker, Math.multiplyExact(ofCard, factor));
  }
}
