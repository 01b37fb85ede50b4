package org.hghca.tools.bringup.compare;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.hghca.tools.bringup.step.Verdict;

/** Two reports beside each other. */
public final class ReportComparison {
  /** Milliseconds: a smaller difference of steps that were repeated is noise. */
  private static final double LEAST = 10;

  /** Milliseconds: the same of steps that were not repeated. */
  private static final double LEAST_ONCE = 1000;

  private static final String LINE = "%-8s %s";

  private final List<String> context = new ArrayList<>();
  private final List<String> differences = new ArrayList<>();
  private final Map<String, List<String>> changedSteps = new LinkedHashMap<>();
  private final List<String> timingLines = new ArrayList<>();
  private final List<String> onlyOld = new ArrayList<>();
  private final List<String> onlyNew = new ArrayList<>();
  private int steps;
  private int timings;
  private boolean repeated = true;

  private ReportComparison() {}

  /** Compares. */
  public static ReportComparison of(RecordedReport before, RecordedReport after) {
    ReportComparison comparison = new ReportComparison();
    comparison.context.addAll(changes(before.context(), after.context()));
    comparison.changed("outcome", before.outcome(), after.outcome());
    changes(before.board(), after.board())
        .forEach(line -> comparison.differences.add(LINE.formatted("board", line)));
    for (String id : union(before.steps(), after.steps())) {
      comparison.step(before.steps().get(id), after.steps().get(id));
    }
    comparison.changedSteps.forEach(
        (change, ids) ->
            comparison.differences.add(
                LINE.formatted("step", "%s: %s".formatted(change, String.join(", ", ids)))));
    comparison.only("only old", comparison.onlyOld);
    comparison.only("only new", comparison.onlyNew);
    comparison.differences.addAll(comparison.timingLines);
    return comparison;
  }

  /** Lines about what differs beside the board: program, machine, place and time. */
  public List<String> context() {
    return List.copyOf(context);
  }

  /** Lines about what differs of the board and its steps. */
  public List<String> differences() {
    return List.copyOf(differences);
  }

  /** Number of steps that both reports judge. */
  public int steps() {
    return steps;
  }

  /** Number of times and speeds that both reports have. */
  public int timings() {
    return timings;
  }

  /** Whether all steps that both reports time were repeated often enough in both. */
  public boolean isRepeated() {
    return repeated;
  }

  private static Set<String> union(Map<String, ?> before, Map<String, ?> after) {
    Set<String> names = new LinkedHashSet<>(before.keySet());
    names.addAll(after.keySet());
    return names;
  }

  private static List<String> changes(Map<String, String> before, Map<String, String> after) {
    List<String> lines = new ArrayList<>();
    Set<String> missing = new LinkedHashSet<>();
    for (String name : union(before, after)) {
      String old = before.get(name);
      String now = after.get(name);
      if (old == null || now == null) {
        missing.add("%s: only %s".formatted(group(name), now == null ? "old" : "new"));
      } else if (!old.equals(now)) {
        lines.add("%s: %s -> %s".formatted(name, old, now));
      }
    }
    lines.addAll(missing);
    return lines;
  }

  /** Limits that one side does not have are one line. */
  private static String group(String name) {
    return name.replaceFirst("\\..*", "");
  }

  private void changed(String what, String before, String after) {
    if (!before.equals(after)) {
      differences.add(LINE.formatted(what, "%s -> %s".formatted(before, after)));
    }
  }

  private void only(String what, List<String> ids) {
    if (!ids.isEmpty()) {
      differences.add(LINE.formatted(what, String.join(", ", ids)));
    }
  }

  private static boolean isThere(RecordedStep step) {
    return step != null && step.verdict() != Verdict.SKIP;
  }

  private void step(RecordedStep before, RecordedStep after) {
    if (!isThere(before) || !isThere(after)) {
      if (isThere(before)) {
        onlyOld.add(before.id());
      } else if (isThere(after)) {
        onlyNew.add(after.id());
      }
      return;
    }
    steps++;
    boolean failedTwice = before.verdict() == Verdict.FAIL && after.verdict() == Verdict.FAIL;
    if (failedTwice
        ? !before.reason().equals(after.reason())
        : before.verdict() != after.verdict()) {
      changedSteps
          .computeIfAbsent(
              "%s -> %s".formatted(before.text(), after.text()), _ -> new ArrayList<>())
          .add(before.id());
    }
    time(before.id() + ", ms", before.millis(), after.millis());
    before
        .speeds()
        .forEach(
            (name, values) -> speed(name, values, after.speeds().getOrDefault(name, List.of())));
  }

  private void time(String name, List<Double> before, List<Double> after) {
    if (!before.isEmpty() && !after.isEmpty()) {
      Spread old = Spread.of(before);
      Spread now = Spread.of(after);
      repeated &= old.isRepeated(now);
      timing(
          "time",
          name,
          old,
          now,
          old.isRepeated(now) ? old.differs(now, LEAST) : old.differsWidely(now, LEAST_ONCE));
    }
  }

  /** Speeds of one round say nothing: a busy machine halves them. */
  private void speed(String name, List<Double> before, List<Double> after) {
    if (!before.isEmpty() && !after.isEmpty()) {
      Spread old = Spread.of(before);
      Spread now = Spread.of(after);
      if (old.isRepeated(now)) {
        timing("speed", name, old, now, old.differs(now, 0));
      }
    }
  }

  private void timing(String what, String name, Spread before, Spread after, boolean differs) {
    timings++;
    if (differs) {
      timingLines.add(LINE.formatted(what, "%s: %s -> %s".formatted(name, before, after)));
    }
  }
}
