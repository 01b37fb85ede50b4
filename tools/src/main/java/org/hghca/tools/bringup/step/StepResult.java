package org.hghca.tools.bringup.step;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.hghca.programs.perf.result.BandwidthReport;
import org.hghca.programs.perf.result.DurationLatency;
import org.hghca.programs.perf.result.LatencyResult;
import org.hghca.programs.perf.suite.Row;
import org.hghca.programs.perf.suite.SuiteReport;
import org.hghca.tools.bringup.cause.Finding;
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
 * @param facts what it found out about the board, by name
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
    Map<String, Object> facts,
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

  /** The speeds that it measured, by test, size and unit. */
  public Map<String, Double> speeds() {
    Map<String, Double> speeds = new LinkedHashMap<>();
    for (Row row : measurements.map(SuiteReport::rows).orElse(List.of())) {
      if (row instanceof Row.Measured measured) {
        String what = "%s, %d bytes".formatted(row.test(), row.asked().largest());
        switch (measured.figure()) {
          case BandwidthReport report -> speeds.put(what + ", MiB/s", report.average());
          case LatencyResult result -> speeds.put(what + ", us", result.typical());
          case DurationLatency result -> speeds.put(what + ", us", result.average());
        }
      }
    }
    return speeds;
  }

  /** Milliseconds that it took. */
  public double millis() {
    return nanos / 1e6;
  }
}
