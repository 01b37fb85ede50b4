package org.hghca.tools.bringup.step;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.hghca.tools.bringup.cause.Finding;
import org.hghca.tools.perf.suite.SuiteReport;
import org.hghca.tools.raw.CommandRecord;

/**
 * The result of a step.
 *
 * @param step which step
 * @param verdict how it ended
 * @param expected what was expected, a line each
 * @param seen what was seen, a line each
 * @param reason why it failed, warns or was left out; empty when it passed
 * @param comparisons bytes that were compared
 * @param measurements what was measured; empty unless it is a step that measures
 * @param commands the commands that it gave, oldest first
 * @param nanos how long it took
 */
public record StepResult(
    Step step,
    Verdict verdict,
    List<String> expected,
    List<String> seen,
    String reason,
    List<Comparison> comparisons,
    Optional<SuiteReport> measurements,
    List<CommandRecord> commands,
    long nanos) {

  /** The failure, for a conclusion. */
  public Finding finding() {
    Optional<String> difference =
        comparisons.stream()
            .filter(comparison -> comparison.firstDifference() >= 0)
            .max(Comparator.comparingInt(Comparison::length))
            .flatMap(Comparison::difference);
    return new Finding(step.id(), reason, difference, step.next());
  }

  /** Milliseconds that it took. */
  public double millis() {
    return nanos / 1e6;
  }
}
