package org.hghca.conformance.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The table of the verbs' behaviour, and the committed one. */
class CaseTableTest {
  private static Row row(String test, boolean unsupported) {
    return new Row(Tier.REQUIRED, "source", "must", test, "reason", unsupported);
  }

  private static List<ProfileResults> none() {
    return List.of(new ProfileResults("s", Map.of()), new ProfileResults("r1", Map.of()));
  }

  private static List<ProfileResults> all(String test, Result result) {
    return List.of(new ProfileResults("s", Map.of(test, result)));
  }

  @Test
  void committedTableListsExactlyTheExistingCases() throws IOException {
    if (!System.getProperty("hghca.table", "").isEmpty()) {
      return; // this run regenerates it
    }
    String now = CaseTable.renderCases(CaseTable.rows(), none());
    assertThat(CaseTable.cases(Files.readString(CaseTable.committed())))
        .as("cases in %s; regenerate it: %s", CaseTable.committed(), CaseTable.COMMAND)
        .containsExactlyElementsOf(CaseTable.cases(now));
  }

  /** Its counts are of a whole run, but what it lists is known without one. */
  @Test
  void committedPageListsWhatIsMissing() throws IOException {
    if (!System.getProperty("hghca.table", "").isEmpty()) {
      return; // this run regenerates it
    }
    String page = Files.readString(CaseTable.project().resolve(CaseTable.PAGE));
    String now = CaseTable.renderPage(CaseTable.rows(), none());
    assertThat(listed(page))
        .as("%s; regenerate it: %s", CaseTable.PAGE, CaseTable.COMMAND)
        .containsExactlyElementsOf(listed(now));
    assertThat(page).contains(" %d cases, all that".formatted(CaseTable.rows().size()));
  }

  /** The unsupported cases, and of the features all but their counts. */
  private static List<String> listed(String page) {
    return page.substring(page.indexOf("## UNSUPPORTED"))
        .lines()
        .filter(line -> line.startsWith("- ") || line.matches("\\| [A-Z_]+ \\|.*"))
        .map(line -> line.startsWith("- ") ? line : line.substring(0, line.indexOf("](")))
        .toList();
  }

  @Test
  void noCaseIsInTheTableTwice() {
    assertThat(CaseTable.rows().stream().map(row -> row.source() + ": " + row.says()))
        .doesNotHaveDuplicates();
  }

  @Test
  void noCaseBreaksTheMarkdownTable() {
    assertThat(CaseTable.rows())
        .allSatisfy(
            row ->
                assertThat(row.prefix())
                    .doesNotContain("\n")
                    .doesNotContain("  ")
                    .matches("[^|]*(\\|[^|]+){3}\\|"));
  }

  /** The run over UDP is one of some tests on a named device. */
  @Test
  void laterRunKeepsTheResultsOfOtherClassesAndDevices(@TempDir Path project) {
    Path models = ProfileResults.folder(project, "");
    Path named = ProfileResults.folder(project, "model:a?net=udp:127.0.6.1");
    Result passed = Result.of(Outcome.PASSED);
    Result failed = Result.of(Outcome.FAILED);
    new ProfileResults("s", Map.of("a.One#x", passed, "a.One#y", passed)).save(models);
    new ProfileResults("s", Map.of("a.Two", failed)).save(models);
    new ProfileResults("s", Map.of("a.One#x", failed)).save(named);
    ProfileResults loaded = ProfileResults.load(models, "s");
    assertThat(loaded.of("a.One#x").outcome()).isEqualTo(Outcome.PASSED);
    assertThat(loaded.of("a.One#y").outcome()).isEqualTo(Outcome.PASSED);
    assertThat(loaded.of("a.Two#z").outcome()).isEqualTo(Outcome.FAILED);
    assertThat(ProfileResults.load(named, "s").of("a.One#y").outcome()).isEqualTo(Outcome.NOT_RUN);
    new ProfileResults("s", Map.of("a.One#x", failed)).save(models);
    assertThat(ProfileResults.load(models, "s").of("a.One#x").outcome()).isEqualTo(Outcome.FAILED);
    assertThat(ProfileResults.load(models, "s").of("a.One#y").outcome()).isEqualTo(Outcome.NOT_RUN);
  }

  @Test
  void oneFailedInvocationFailsTheCase() {
    assertThat(Outcome.PASSED.worse(Outcome.FAILED)).isEqualTo(Outcome.FAILED);
    assertThat(Outcome.FAILED.worse(Outcome.PASSED)).isEqualTo(Outcome.FAILED);
    assertThat(Outcome.NOT_RUN.worse(Outcome.PASSED)).isEqualTo(Outcome.NOT_RUN);
    assertThat(Outcome.PASSED.worse(Outcome.PASSED)).isEqualTo(Outcome.PASSED);
  }

  @Test
  void partlyRunCasePassesAndNamesTheMissingFeature() {
    Result missing = new Result(Outcome.UNSUPPORTED, List.of("ATOMICS"));
    assertThat(missing.text()).isEqualTo("UNSUPPORTED: ATOMICS");
    assertThat(missing.and(Result.of(Outcome.PASSED)).text()).isEqualTo("passed, but for ATOMICS");
    assertThat(missing.and(Result.of(Outcome.FAILED)).text()).isEqualTo("failed");
  }

  @Test
  void resultOfAClassHoldsForItsTests() {
    Result missing = new Result(Outcome.UNSUPPORTED, List.of("ATOMICS"));
    ProfileResults results = new ProfileResults("r1", Map.of("a.Test", missing));
    assertThat(results.of("a.Test#b")).isEqualTo(missing);
    assertThat(results.of("a.Other#b")).isEqualTo(Result.NOT_RUN);
  }

  @Test
  void unsupportedIsReportedOnlyWhenTheTestPassed() {
    assertThat(row("a.Test#b", true).result(Result.of(Outcome.PASSED))).isEqualTo("UNSUPPORTED");
    assertThat(row("a.Test#b", true).result(Result.of(Outcome.FAILED))).isEqualTo("failed");
    assertThat(row("a.Test#b", false).result(Result.of(Outcome.PASSED))).isEqualTo("passed");
    assertThat(row("", true).result(Result.of(Outcome.NOT_RUN))).isEqualTo("UNSUPPORTED");
    assertThat(row("", false).result(Result.of(Outcome.NOT_RUN))).isEqualTo("not applicable");
  }

  @Test
  void rowsAreComparedWithoutTheirResults() {
    List<Row> rows = List.of(row("a.Test#b", false), row("", false));
    String passed = CaseTable.renderCases(rows, all("a.Test#b", Result.of(Outcome.PASSED)));
    String failed = CaseTable.renderCases(rows, all("a.Test#b", Result.of(Outcome.FAILED)));
    assertThat(passed).isNotEqualTo(failed);
    assertThat(CaseTable.cases(passed))
        .isEqualTo(CaseTable.cases(failed))
        .containsExactly("| source | must | `Test#b` |", "| source | must | reason |");
  }
}
