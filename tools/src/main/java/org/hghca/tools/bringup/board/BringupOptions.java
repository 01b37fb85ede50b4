package org.hghca.tools.bringup.board;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.hghca.abi.HardwareProfile;
import org.hghca.vfio.Locator;
import org.hghca.vfio.TimeScale;

/**
 * The options of a session.
 *
 * @param device locator of the board
 * @param profile the profile of the card that is expected; empty to detect it
 * @param loop how data returns
 * @param peer locator of the other device with {@link Loop#PEER}; empty otherwise
 * @param destructive whether steps that stop a card are done, too
 * @param limit how long the card may take for a command or a completion
 * @param patience how long a step may take before it is abandoned with all later steps
 * @param measure how long each speed is measured
 * @param effort how long is tested by amount
 * @param only ids of the steps to do, with those that they need; empty for all
 * @param skip ids of steps to skip
 */
public record BringupOptions(
    String device,
    Optional<HardwareProfile> profile,
    Loop loop,
    String peer,
    boolean destructive,
    Duration limit,
    Duration patience,
    Duration measure,
    Effort effort,
    Set<String> only,
    Set<String> skip) {
  /** A million times the duration on a card; in the card's time. */
  private static final Duration LIMIT = Duration.ofSeconds(2);

  /** No step waits for more answers than this. */
  private static final int MOST_ANSWERS = 40;

  private static final Duration LEAST_PATIENCE = Duration.ofSeconds(60);

  /** {@link #LIMIT} for an answer, a third of a second for a measurement. */
  public static BringupOptions of(String device) {
    Duration limit = limit(device);
    return new BringupOptions(
        device,
        Optional.empty(),
        Loop.AUTO,
        "",
        false,
        limit,
        patience(limit),
        Duration.ofMillis(300),
        Effort.of(device),
        Set.of(),
        Set.of());
  }

  public BringupOptions {
    only = Set.copyOf(only);
    skip = Set.copyOf(skip);
  }

  /** Default time limit for an answer of a board. */
  public static Duration limit(String device) {
    return TimeScale.of(Locator.parse(device)).stretch(LIMIT);
  }

  /** The time limit of a step for a given time limit of an answer. */
  public static Duration patience(Duration limit) {
    Duration patience = limit.multipliedBy(MOST_ANSWERS);
    return patience.compareTo(LEAST_PATIENCE) < 0 ? LEAST_PATIENCE : patience;
  }
}
