package org.hghca.tools.bringup;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.hghca.tools.bringup.cause.Conclusion;
import org.hghca.tools.bringup.step.StepResult;
import org.hghca.tools.bringup.step.Tally;
import org.hghca.tools.bringup.step.Verdict;

/**
 * The result of a session, or of several rounds of it.
 *
 * @param device locator of the board
 * @param profile the profile of the card that was found, {@code virtio} for a virtio device; empty
 *     if it was not detected
 * @param started when it began
 * @param nanos how long it took
 * @param tallies of all steps in their order
 * @param facts about the board, by name
 * @param outcome how it ended; of several rounds, the worst
 */
public record BringupReport(
    String device,
    String profile,
    Instant started,
    long nanos,
    List<Tally> tallies,
    Map<String, Object> facts,
    Outcome outcome) {
  private static final String NOT_RELEASED = "not_released";

  /** How a session ended, with the exit code of the command line; the worst first. */
  public enum Outcome {
    /** The card stopped answering. */
    STOPPED(4, "CARD STOPPED"),
    /** A step failed. */
    FAILED(1, "FAILED"),
    /** It was terminated before its last step. */
    INTERRUPTED(130, "INTERRUPTED"),
    /** The board could not be opened. */
    NOT_OPENED(3, "NOT OPENED"),
    /** No step failed, but some could not be judged. */
    INCOMPLETE(6, "INCOMPLETE"),
    /** All steps that apply to the device ran and passed, but those that were left out. */
    PASSED(0, "PASSED");

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
    tallies = List.copyOf(tallies);
  }

  /** Of one round. */
  static BringupReport of(
      String device,
      String profile,
      Instant started,
      long nanos,
      List<StepResult> results,
      Outcome outcome) {
    Map<String, Object> facts = new LinkedHashMap<>();
    results.forEach(result -> facts.putAll(result.facts()));
    return new BringupReport(
        device, profile, started, nanos, results.stream().map(Tally::of).toList(), facts, outcome);
  }

  /** The same with a further round, of the same steps. */
  BringupReport with(BringupReport round) {
    List<Tally> all = new ArrayList<>();
    for (int i = 0; i < tallies.size(); i++) {
      all.add(tallies.get(i).with(round.tallies.get(i).result()));
    }
    Map<String, Object> known = new LinkedHashMap<>(facts);
    known.putAll(round.facts);
    return new BringupReport(
        device,
        round.profile.isEmpty() ? profile : round.profile,
        started,
        nanos + round.nanos,
        all,
        known,
        outcome.compareTo(round.outcome) < 0 ? outcome : round.outcome);
  }

  /**
   * The same, of a board that could not be given back.
   *
   * @param why it could not
   * @param worse how the last round ended then
   */
  BringupReport withoutRelease(String why, Outcome worse) {
    Map<String, Object> known = new LinkedHashMap<>(facts);
    known.put(NOT_RELEASED, why);
    return new BringupReport(
        device,
        profile,
        started,
        nanos,
        tallies,
        known,
        outcome.compareTo(worse) < 0 ? outcome : worse);
  }

  /** Why the board could not be given back; empty when it was. */
  public Optional<String> notReleased() {
    return Optional.ofNullable((String) facts.get(NOT_RELEASED));
  }

  /** The worst result of each step, in their order. */
  public List<StepResult> results() {
    return tallies.stream().map(Tally::result).toList();
  }

  /** Number of rounds that were run. */
  public int rounds() {
    return tallies.getFirst().rounds().size();
  }

  /** Number of steps with this verdict. */
  public int count(Verdict verdict) {
    return (int) results().stream().filter(result -> result.verdict() == verdict).count();
  }

  /** The reasons of this verdict in the order of their first steps, with the ids of their steps. */
  public Map<String, List<String>> reasons(Verdict verdict) {
    Map<String, List<String>> reasons = new LinkedHashMap<>();
    for (StepResult result : results()) {
      if (result.verdict() == verdict) {
        reasons.computeIfAbsent(result.reason(), any -> new ArrayList<>()).add(result.step().id());
      }
    }
    return reasons;
  }

  /** What the failures point to. */
  public Conclusion conclusion() {
    return Conclusion.of(
        results().stream()
            .filter(result -> result.verdict() == Verdict.FAIL)
            .map(StepResult::finding)
            .toList());
  }

  /** Seconds that it took. */
  public double seconds() {
    return nanos / 1e9;
  }
}
