package org.hghca.tools.bringup.step;

import java.time.Duration;
import java.util.List;

/**
 * A step of a session.
 *
 * @param id its name for {@code --only} and {@code --skip}
 * @param title its subject
 * @param source the document and table that define the expected result
 * @param next where to look if it fails
 * @param destructive whether it can stop the card
 * @param time how long it runs by itself, beside the time for answers
 * @param needs what must have been shown before
 * @param gives what it shows when it passes; it may show less, or in spite of a failure, see {@link
 *     Observation#gives}
 * @param body its action
 */
public record Step(
    String id,
    String title,
    String source,
    String next,
    boolean destructive,
    Duration time,
    List<Capability> needs,
    List<Capability> gives,
    Body body) {

  /** The action of a step. It returns on success, or throws on failure. */
  @FunctionalInterface
  public interface Body {
    void run(Observation seen);
  }

  /** A step that cannot stop the card. */
  public static Step of(
      String id, String title, String source, String next, Body body, Capability... needs) {
    return new Step(id, title, source, next, false, Duration.ZERO, List.of(needs), List.of(), body);
  }

  /** A step that can stop the card. */
  public static Step destructive(
      String id, String title, String source, String next, Body body, Capability... needs) {
    return new Step(id, title, source, next, true, Duration.ZERO, List.of(needs), List.of(), body);
  }

  /** The same, which runs for a time by itself. */
  public Step lasting(Duration howLong) {
    return new Step(id, title, source, next, destructive, howLong, needs, gives, body);
  }

  /** The same, which shows something when it passes. */
  public Step giving(Capability... what) {
    return new Step(id, title, source, next, destructive, time, needs, List.of(what), body);
  }
}
