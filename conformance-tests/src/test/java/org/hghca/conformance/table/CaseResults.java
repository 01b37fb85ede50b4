package org.hghca.conformance.table;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Writes the table of all {@linkplain VerbsCase cases} when tests end: to {@code
 * conformance-tests/target/verbs-behaviour.md}, and to what the system property {@code hghca.table}
 * names, relative to the project's folder, if every case was run.
 */
public final class CaseResults implements TestExecutionListener {
  private final Map<String, Outcome> outcomes = new ConcurrentHashMap<>();

  /** Used by the test platform. */
  public CaseResults() {}

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    // The container of a parameterized test succeeds whatever becomes of its invocations.
    boolean succeeded = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
    if (succeeded && !test.isTest()) {
      return;
    }
    record(
        test,
        switch (result.getStatus()) {
          case SUCCESSFUL -> Outcome.PASSED;
          case ABORTED -> Outcome.NOT_RUN;
          case FAILED -> Outcome.FAILED;
        });
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    record(test, Outcome.NOT_RUN);
  }

  private void record(TestIdentifier test, Outcome outcome) {
    if (test.getSource().orElse(null) instanceof MethodSource method) {
      String key = CaseTable.key(method.getClassName(), method.getMethodName());
      outcomes.merge(key, outcome, Outcome::worse);
    }
  }

  private Outcome outcome(Row row) {
    return outcomes.getOrDefault(row.test(), Outcome.NOT_RUN);
  }

  @Override
  public void testPlanExecutionFinished(TestPlan plan) {
    List<Row> rows = CaseTable.rows();
    List<Row> tested = rows.stream().filter(Row::hasTest).toList();
    if (tested.stream().allMatch(row -> outcome(row) == Outcome.NOT_RUN)) {
      return;
    }
    String table = CaseTable.render(rows, this::outcome);
    Path project = CaseTable.project();
    write(project.resolve("conformance-tests/target/verbs-behaviour.md"), table);
    String wanted = System.getProperty("hghca.table", "");
    if (!wanted.isEmpty() && tested.stream().noneMatch(row -> outcome(row) == Outcome.NOT_RUN)) {
      write(project.resolve(wanted), table);
    }
  }

  private static void write(Path file, String text) {
    try {
      Files.createDirectories(file.getParent());
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
