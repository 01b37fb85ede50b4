package org.hghca.tools.bringup.step;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What became of a step in all rounds.
 *
 * @param result the worst; of equal ones the first
 * @param rounds of each round, in their order
 */
public record Tally(StepResult result, List<Round> rounds) {
  /**
   * A round.
   *
   * @param nanos how long the step took
   * @param speeds that it measured, by name
   */
  public record Round(Verdict verdict, long nanos, Map<String, Double> speeds) {
    /** Milliseconds that it took. */
    public double millis() {
      return nanos / 1e6;
    }
  }

  public Tally {
    rounds = List.copyOf(rounds);
  }

  /** Of the first round. */
  public static Tally of(StepResult result) {
    return new Tally(result, List.of(round(result)));
  }

  private static Round round(StepResult result) {
    return new Round(result.verdict(), result.nanos(), result.speeds());
  }

  /** The same, with a further round. */
  public Tally with(StepResult next) {
    List<Round> all = new ArrayList<>(rounds);
    all.add(round(next));
    return new Tally(next.verdict().outweighs(result.verdict()) ? next : result, all);
  }

  /** In how many rounds it failed. */
  public int failures() {
    return (int) rounds.stream().filter(round -> round.verdict() == Verdict.FAIL).count();
  }
}
