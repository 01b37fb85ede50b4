package org.hghca.tools.bringup;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.hghca.abi.HardwareProfile;

/**
 * What a session is to do.
 *
 * @param device locator of the board
 * @param profile the reading of the card that is expected; empty to find it out
 * @param loop how data comes back
 * @param peer locator of the other device with {@link Loop#PEER}; empty otherwise
 * @param destructive whether steps that stop a card are done, too
 * @param limit how long the card may take for a command or a completion
 * @param measure how long each speed is measured
 * @param only ids of the steps to do, with those that they need; empty for all
 * @param skip ids of steps to leave out
 */
public record BringupOptions(
    String device,
    Optional<HardwareProfile> profile,
    Loop loop,
    String peer,
    boolean destructive,
    Duration limit,
    Duration measure,
    Set<String> only,
    Set<String> skip) {

  /** Two seconds for an answer, a third of a second for a measurement. */
  public static BringupOptions of(String device) {
    return new BringupOptions(
        device,
        Optional.empty(),
        Loop.AUTO,
        "",
        false,
        Duration.ofSeconds(2),
        Duration.ofMillis(300),
        Set.of(),
        Set.of());
  }

  public BringupOptions {
    only = Set.copyOf(only);
    skip = Set.copyOf(skip);
  }

  /** The same, with steps that stop a card. */
  public BringupOptions withDestructive() {
    return new BringupOptions(device, profile, loop, peer, true, limit, measure, only, skip);
  }

  /** The same, with another limit. */
  public BringupOptions withLimit(Duration other) {
    return new BringupOptions(device, profile, loop, peer, destructive, other, measure, only, skip);
  }

  /** The same, with other times to measure. */
  public BringupOptions withMeasure(Duration other) {
    return new BringupOptions(device, profile, loop, peer, destructive, limit, other, only, skip);
  }
}
