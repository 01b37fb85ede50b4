package org.hghca.tools.bringup.board;

import java.time.Duration;
import org.hghca.vfio.Locator;
import org.hghca.vfio.TimeScale;

/**
 * How long a session tests by amount.
 *
 * @param budget for all steps that test many messages together
 * @param soak how long messages are sent after that; zero for not at all
 */
public record Effort(Duration budget, Duration soak) {
  private static final Duration BUDGET = Duration.ofSeconds(10);

  /** Ten seconds of the device's time, and no soak. */
  public static Effort of(String device) {
    return new Effort(TimeScale.of(Locator.parse(device)).stretch(BUDGET), Duration.ZERO);
  }

  /** The same, with another budget. */
  public Effort withBudget(Duration other) {
    return new Effort(other, soak);
  }

  /** The same, with a soak. */
  public Effort withSoak(Duration other) {
    return new Effort(budget, other);
  }
}
