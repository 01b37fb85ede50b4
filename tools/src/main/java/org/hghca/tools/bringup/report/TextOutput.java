package org.hghca.tools.bringup.report;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import org.hghca.tools.bringup.BringupReport;
import org.hghca.tools.bringup.Progress;
import org.hghca.tools.bringup.cause.Conclusion;
import org.hghca.tools.bringup.data.DataTests;
import org.hghca.tools.bringup.step.Comparison;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.bringup.step.StepResult;
import org.hghca.tools.bringup.step.Tally;
import org.hghca.tools.bringup.step.Verdict;
import org.hghca.tools.raw.CommandRecord;
import org.hghca.tools.raw.Hexdump;

/** A session as text, line by line while it runs. */
public final class TextOutput implements Progress {
  private static final int COMMANDS_SHOWN = 4;

  private final PrintWriter out;
  private final boolean verbose;
  private final int total;
  private final int rounds;
  private int round;
  private final Duration soak;
  private int done;

  /**
   * Text for a terminal or a log.
   *
   * @param verbose whether passed steps show their values and commands
   * @param total number of steps
   * @param rounds number of rounds; of those after the first, without {@code verbose}, only what
   *     did not pass is printed
   * @param soak how long the soak was, which a repetition needs again
   */
  public TextOutput(PrintWriter out, boolean verbose, int total, int rounds, Duration soak) {
    this.out = out;
    this.verbose = verbose;
    this.total = total;
    this.rounds = rounds;
    this.soak = soak;
  }

  @Override
  public void round(int number) {
    round = number;
    done = 0;
    if (rounds > 1) {
      out.print("round %d/%d\n".formatted(number, rounds));
      out.flush();
    }
  }

  @Override
  public void step(StepResult result) {
    Step step = result.step();
    done++;
    boolean repeated = round > 1 && result.verdict() == Verdict.PASS && !verbose;
    if (repeated || !result.verdict().isResult()) {
      return; // the summary has a line for each reason
    }
    out.print(
        "%2d/%d %-4s  %-17s %s  (%.1f ms)\n"
            .formatted(
                done, total, result.verdict().label(), step.id(), step.title(), result.millis()));
    if (!result.reason().isEmpty()) {
      out.print("            %s\n".formatted(result.reason()));
    }
    if (result.verdict() == Verdict.FAIL || verbose) {
      details(result);
    }
    out.flush();
  }

  private void details(StepResult result) {
    for (String line : result.expected()) {
      out.print("            expected  %s\n".formatted(line));
    }
    for (String line : result.seen()) {
      out.print("            seen      %s\n".formatted(line));
    }
    for (Comparison comparison : result.comparisons()) {
      if (comparison.firstDifference() >= 0) {
        compare(comparison);
      }
    }
    List<CommandRecord> commands = result.commands();
    int first = verbose ? 0 : Math.max(0, commands.size() - COMMANDS_SHOWN);
    if (first > 0) {
      out.print("            command   ... %d before these\n".formatted(first));
    }
    for (CommandRecord command : commands.subList(first, commands.size())) {
      out.print(
          "            command   %s op_modifier %d in_modifier %xh in_param %xh: %s, %.1f us\n"
              .formatted(
                  command.name(),
                  command.opModifier(),
                  command.inModifier(),
                  command.inParam(),
                  command.status(),
                  command.micros()));
    }
    out.print("            source    %s\n".formatted(result.step().source()));
    if (result.verdict() == Verdict.FAIL) {
      out.print("            look at   %s\n".formatted(result.step().next()));
    }
  }

  private void compare(Comparison comparison) {
    List<String> expected = Hexdump.lines(comparison.expected());
    List<String> seen = Hexdump.lines(comparison.seen());
    for (int i = 0; i < Math.max(expected.size(), seen.size()); i++) {
      boolean differs = false;
      for (int at = i * Hexdump.COLUMNS; at < (i + 1) * Hexdump.COLUMNS; at++) {
        differs |= at < comparison.length() && comparison.differsAt(at);
      }
      if (differs) {
        out.print(
            "            expected  %s\n".formatted(i < expected.size() ? expected.get(i) : "-"));
        out.print("            seen      %s\n".formatted(i < seen.size() ? seen.get(i) : "-"));
      }
    }
  }

  /** Prints how the session ended. */
  public void summary(BringupReport report) {
    out.print("\n");
    conclusion(report);
    failures(report);
    reasons(report, Verdict.SKIP);
    reasons(report, Verdict.NOT_JUDGED);
    report.notReleased().ifPresent(this::notReleased);
    out.print(
        "%s: %s%s%s, %d passed, %d warnings, %d failed, %d not judged, %d skipped in %.1f s\n"
            .formatted(
                report.device(),
                report.outcome().text(),
                report.profile().isEmpty() ? "" : ", profile " + report.profile(),
                rounds > 1 ? ", %d of %d rounds".formatted(report.rounds(), rounds) : "",
                report.count(Verdict.PASS),
                report.count(Verdict.WARN),
                report.count(Verdict.FAIL),
                report.count(Verdict.NOT_JUDGED),
                report.count(Verdict.SKIP),
                report.seconds()));
    out.flush();
  }

  /** Prints that the board could not be given back. */
  public void notReleased(String why) {
    out.print("      FAIL  the board was not given back: %s\n".formatted(why));
    out.flush();
  }

  private void conclusion(BringupReport report) {
    Conclusion conclusion = report.conclusion();
    for (Conclusion.Cause cause : conclusion.causes()) {
      out.print("      likely    %s\n".formatted(cause.what()));
      out.print("      evidence  %s: %s\n".formatted(cause.step(), cause.evidence()));
      out.print("      look at   %s\n".formatted(cause.lookAt()));
      out.print(
          "      repeat    hghca bringup -d '%s' -v --only %s%s\n"
              .formatted(
                  report.device(),
                  cause.step(),
                  cause.step().equals(DataTests.SOAK) ? " --soak " + soak : ""));
    }
    if (!conclusion.others().isEmpty()) {
      out.print("      follows   %s\n".formatted(String.join(", ", conclusion.others())));
    }
    if (!conclusion.causes().isEmpty()) {
      out.print("\n");
    }
  }

  /** A line for each step that failed, when there were several rounds. */
  private void failures(BringupReport report) {
    for (Tally tally : report.tallies()) {
      if (rounds > 1 && tally.failures() > 0) {
        out.print(
            "      FAIL  in %d of %d rounds: %s\n"
                .formatted(tally.failures(), report.rounds(), tally.result().step().id()));
      }
    }
  }

  /** A line for each reason of this verdict, with the steps. */
  private void reasons(BringupReport report, Verdict verdict) {
    report
        .reasons(verdict)
        .forEach(
            (reason, steps) ->
                out.print(
                    "      %-4s  %s: %s\n"
                        .formatted(verdict.label(), reason, String.join(", ", steps))));
  }

  /** Lists all steps. */
  public static void list(PrintWriter out, List<Step> steps) {
    for (Step step : steps) {
      out.print(
          "%-17s %s%s\n"
              .formatted(step.id(), step.title(), step.destructive() ? " (--destructive)" : ""));
      out.print("%-17s   %s\n".formatted("", step.source()));
    }
    out.flush();
  }
}
