package org.hghca.tools.bringup;

import java.util.List;

/**
 * A step of a session.
 *
 * @param id its name for {@code --only} and {@code --skip}
 * @param title what it looks at
 * @param source the document and table that say what is expected
 * @param next where to look when it fails
 * @param destructive whether it can stop the card
 * @param needs ids of the steps that must have gone well
 * @param body what it does
 */
public record Step(
    String id,
    String title,
    String source,
    String next,
    boolean destructive,
    List<String> needs,
    Body body) {

  /** What a step does. It ends by returning, or by an exception when something is wrong. */
  @FunctionalInterface
  public interface Body {
    void run(Observation seen);
  }

  /** A step that cannot stop the card. */
  static Step of(String id, String title, String source, String next, Body body, String... needs) {
    return new Step(id, title, source, next, false, List.of(needs), body);
  }

  /** A step that can stop the card. */
  static Step destructive(
      String id, String title, String source, String next, Body body, String... needs) {
    return new Step(id, title, source, next, true, List.of(needs), body);
  }
}
