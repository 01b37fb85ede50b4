package org.hghca.tools.bringup;

import java.time.Instant;
import java.util.List;

/**
 * The result of a session.
 *
 * @param device locator of the board
 * @param profile the profile of the card that was found, {@code virtio} for a virtio device; empty
 *     if it was not detected
 * @param started when it began
 * @param nanos how long it took
 * @param results all steps in their order
 * @param outcome how it ended
 */
public record BringupReport(
    String device,
    String profile,
    Instant started,
    long nanos,
    List<StepResult> results,
    Outcome outcome) {

  /** How a session ended, with the exit code of the command line. */
  public enum Outcome {
    /** All executed steps passed. */
    PASSED(0, "PASSED"),
    /** A step failed. */
    FAILED(1, "FAILED"),
    /** The board could not be opened. */
    NOT_OPENED(3, "NOT OPENED"),
    /** The card stopped answering. */
    STOPPED(4, "CARD STOPPED"),
    /** It was terminated before its last step. */
    INTERRUPTED(130, "INTERRUPTED");

    private final int exitCode;
    private final String text;

    Outcome(int exitCode, String text) {
      this.exitCode = exitCode;
      this.text = text;
    }

    /** The exit code of the command line. */
    public int exitCode() {
      return exitCode;
    }

    /** In a word or two. */
    public String text() {
      return text;
    }
  }

  public BringupReport {
    results = List.copyOf(results);
  }

  /** Number of steps with this verdict. */
  public int count(Verdict verdict) {
    return (int) results.stream().filter(result -> result.verdict() == verdict).count();
  }

  /** Seconds that it took. */
  public double seconds() {
    return nanos / 1e9;
  }
}
