package org.hghca.conformance.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.assertj.core.util.Throwables;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.engine.reporting.ReportEntry;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Writes each test that ends as a check of the laboratory: a line of the file {@code results}, and
 * a log of its own if it failed. What a test publishes becomes a note.
 */
final class ResultLines implements TestExecutionListener {
  /** The type of identifier of a class's repetition. */
  private static final String REPEATED = "class-template-invocation";

  private final Path folder;
  private final String scenario;
  private final Map<String, Long> started = new HashMap<>();
  private TestPlan plan;
  private int failures;

  /**
   * Writes to a folder.
   *
   * @param folder that of the guest, with the folder {@code logs}
   */
  ResultLines(Path folder, String scenario) {
    this.folder = folder;
    this.scenario = scenario;
  }

  @Override
  public void testPlanExecutionStarted(TestPlan testPlan) {
    plan = testPlan;
  }

  @Override
  public void executionStarted(TestIdentifier test) {
    started.put(test.getUniqueId(), System.nanoTime());
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    boolean passed = result.getStatus() == Status.SUCCESSFUL;
    if (!test.isTest() && passed) {
      return;
    }
    if (result.getStatus() == Status.ABORTED) {
      executionSkipped(test, result.getThrowable().map(Throwable::getMessage).orElse("aborted"));
      return;
    }
    String log = "-";
    if (!passed) {
      failures++;
      log = "logs/test-%d.log".formatted(failures);
      String cause = result.getThrowable().map(Throwables::getStackTrace).orElse("");
      append(folder.resolve(log), cause);
    }
    double seconds = (System.nanoTime() - started.get(test.getUniqueId())) / 1e9;
    line(passed ? "PASS" : "FAIL", what(test), "%.1f".formatted(seconds), log);
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    line("SKIP", what(test) + ": " + reason, "0", "-");
  }

  @Override
  public void reportingEntryPublished(TestIdentifier test, ReportEntry entry) {
    entry.getKeyValuePairs().forEach((key, value) -> line("NOTE", key + " " + value, "0", "-"));
  }

  private String what(TestIdentifier test) {
    TestIdentifier top = test;
    while (plan.getParent(top).flatMap(plan::getParent).isPresent()) {
      top = plan.getParent(top).orElseThrow();
    }
    String name =
        top.equals(test)
            ? test.getDisplayName()
            : top.getDisplayName() + " " + test.getDisplayName();
    return invocation(test).map(with -> name + ", " + with).orElse(name);
  }

  /** With what the class of a test is repeated. */
  private Optional<String> invocation(TestIdentifier test) {
    return Stream.iterate(Optional.of(test), Optional::isPresent, it -> it.flatMap(plan::getParent))
        .flatMap(Optional::stream)
        .filter(it -> it.getUniqueIdObject().getLastSegment().getType().equals(REPEATED))
        .map(TestIdentifier::getDisplayName)
        .findFirst();
  }

  private void line(String status, String what, String seconds, String log) {
    append(
        folder.resolve("results"),
        String.format(Locale.ROOT, "%s\t%s\t%s\t%s\t%s%n", status, scenario, what, seconds, log));
  }

  private static void append(Path file, String text) {
    try {
      Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
