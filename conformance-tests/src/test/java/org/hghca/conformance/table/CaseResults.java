package org.hghca.conformance.table;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.profile.Unsupported;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Writes the table of all {@linkplain VerbsCase cases} when tests end: to {@code
 * conformance-tests/target/verbs-cases.md}, and with the system property {@code hghca.table=verbs}
 * to the committed files, if every case was run on every profile. The build runs them on one
 * profile after the other; the results of other profiles and classes are those of their last run.
 * Those on a named device are another table's.
 */
public final class CaseResults implements TestExecutionListener {
  private final Map<String, Result> results = new ConcurrentHashMap<>();

  /** Used by the test platform. */
  public CaseResults() {}

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    // The container of a parameterized test succeeds whatever the results of its invocations are.
    boolean succeeded = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
    if (succeeded && !test.isTest()) {
      return;
    }
    record(
        test,
        switch (result.getStatus()) {
          case SUCCESSFUL -> Result.of(Outcome.PASSED);
          case ABORTED ->
              notRun(result.getThrowable().map(Throwable::getMessage).orElse("no reason"));
          case FAILED -> Result.of(Outcome.FAILED);
        });
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    record(test, notRun(reason));
  }

  private static Result notRun(String reason) {
    return Unsupported.features(reason)
        .map(missing -> new Result(Outcome.UNSUPPORTED, List.of(missing)))
        .orElse(Result.NOT_RUN);
  }

  private void record(TestIdentifier test, Result result) {
    switch (test.getSource().orElse(null)) {
      case MethodSource method ->
          results.merge(
              CaseTable.key(method.getClassName(), method.getMethodName()), result, Result::and);
      case ClassSource type -> results.merge(type.getClassName(), result, Result::and);
      case null, default -> {
        // a suite or an engine
      }
    }
  }

  @Override
  public void testPlanExecutionFinished(TestPlan plan) {
    List<Row> rows = CaseTable.rows();
    ProfileResults here = new ProfileResults(TestProfile.name(), results);
    if (here.isEmpty(rows)) {
      return;
    }
    Path project = CaseTable.project();
    Path folder = ProfileResults.folder(project, CaseTable.DEVICE);
    here.save(folder);
    List<ProfileResults> all =
        CaseTable.PROFILES.stream().map(name -> ProfileResults.load(folder, name)).toList();
    String cases = CaseTable.renderCases(rows, all);
    write(project.resolve("conformance-tests/target/verbs-cases.md"), cases);
    if (System.getProperty("hghca.table", "").equals("verbs")
        && all.stream().allMatch(profile -> profile.isComplete(rows))) {
      write(project.resolve(CaseTable.CASES), cases);
      write(project.resolve(CaseTable.PAGE), CaseTable.renderPage(rows, all));
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
