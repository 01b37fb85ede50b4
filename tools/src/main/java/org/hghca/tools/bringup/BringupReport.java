package org.hghca.tools.bringup;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hghca.tools.bringup.cause.Conclusion;
import org.hghca.tools.bringup.step.StepResult;
import org.hghca.tools.bringup.step.Verdict;

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
    /** All steps that apply to the device ran and passed, but those that were left out. */
    PASSED(0, "PASSED"),
    /** A step failed. */
    FAILED(1, "FAILED"),
    /** The board could not be opened. */
    NOT_OPENED(3, "NOT OPENED"),
    /** The card stopped answering. */
    STOPPED(4, "CARD STOPPED"),
    /** No step failed, but some could not be judged. */
    INCOMPLETE(6, "INCOMPLETE"),
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

  /** The reasons of this verdict in the order of their first steps, with the ids of their steps. */
  public Map<String, List<String>> reasons(Verdict verdict) {
    Map<String, List<String>> reasons = new LinkedHashMap<>();
    for (StepResult result : results) {
      if (result.verdict() == verdict) {
        reasons.computeIfAbsent(result.reason(), any -> new ArrayList<>()).add(result.step().id());
      }
    }
    return reasons;
  }

  /** What the failures point to. */
  public Conclusion conclusion() {
    return Conclusion.of(
        results.stream()
            .filter(result -> result.verdict() == Verdict.FAIL)
            .map(StepResult::finding)
            .toList());
  }

  /** Seconds that it took. */
  public double seconds() {
    return nanos / 1e9;
  }
}
