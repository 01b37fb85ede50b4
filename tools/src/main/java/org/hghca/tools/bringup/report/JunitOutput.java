package org.hghca.tools.bringup.report;

import java.time.temporal.ChronoUnit;
import org.hghca.programs.perf.page.Markup;
import org.hghca.tools.bringup.BringupReport;
import org.hghca.tools.bringup.step.StepResult;
import org.hghca.tools.bringup.step.Tally;
import org.hghca.tools.bringup.step.Verdict;

/** A session as JUnit XML, which build servers read: a test case for each step. */
public final class JunitOutput {
  private final Markup xml = Markup.xml();

  private JunitOutput() {}

  /** The whole report. */
  public static String of(Origin origin, BringupReport report) {
    JunitOutput output = new JunitOutput();
    output.suite(origin, report);
    return output.xml.toString();
  }

  private void suite(Origin origin, BringupReport report) {
    xml.open(
        "testsuite",
        "name",
        "hghca bringup",
        "hostname",
        report.device(),
        "tests",
        Integer.toString(report.results().size()),
        "failures",
        Integer.toString(report.count(Verdict.FAIL)),
        "errors",
        "0",
        "skipped",
        Integer.toString(report.count(Verdict.SKIP) + report.count(Verdict.NOT_JUDGED)),
        "time",
        "%.3f".formatted(report.seconds()),
        "timestamp",
        report.started().truncatedTo(ChronoUnit.SECONDS).toString());
    xml.open("properties");
    property("device", report.device());
    property("outcome", report.outcome().name());
    FactLines.of(origin, report).forEach(this::property);
    xml.close();
    report.tallies().forEach(this::testCase);
    xml.close();
  }

  private void property(String name, String value) {
    xml.empty("property", "name", name, "value", value);
  }

  private void testCase(Tally tally) {
    StepResult result = tally.result();
    xml.open(
        "testcase",
        "classname",
        "org.hghca.bringup",
        "name",
        result.step().id() + ": " + result.step().title(),
        "time",
        "%.3f".formatted(result.nanos() / 1e9));
    switch (result.verdict()) {
      case SKIP, NOT_JUDGED -> xml.empty("skipped", "message", result.reason());
      case FAIL ->
          xml.element(
              "failure",
              "source: %s\nlook at: %s\n".formatted(result.step().source(), result.step().next()),
              "message",
              result.reason());
      case PASS, WARN -> {}
    }
    xml.open("system-out");
    if (tally.failures() > 0 && tally.rounds().size() > 1) {
      xml.text("failed in %d of %d rounds\n".formatted(tally.failures(), tally.rounds().size()));
    }
    result.expected().forEach(line -> xml.text("expected: " + line + "\n"));
    result.seen().forEach(line -> xml.text("seen: " + line + "\n"));
    if (result.verdict() == Verdict.WARN) {
      xml.text("warning: " + result.reason() + "\n");
    }
    xml.close().close();
  }
}
