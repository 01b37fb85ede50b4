package org.hghca.conformance.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The table of the verbs' behaviour, and the committed one. */
class CaseTableTest {
  private static Row row(String test, boolean unsupported) {
    return new Row(Tier.REQUIRED, "source", "must", test, "reason", unsupported);
  }

  @Test
  void theCommittedTableListsExactlyTheCasesThatExist() throws IOException {
    if (!System.getProperty("hghca.table", "").isEmpty()) {
      return; // this run makes it anew
    }
    String now = CaseTable.render(CaseTable.rows(), row -> Outcome.NOT_RUN);
    assertThat(CaseTable.cases(Files.readString(CaseTable.committed())))
        .as("cases in %s; make it anew: %s", CaseTable.committed(), CaseTable.COMMAND)
        .containsExactlyElementsOf(CaseTable.cases(now));
  }

  @Test
  void noCaseStandsInTheTableTwice() {
    assertThat(CaseTable.rows().stream().map(row -> row.source() + ": " + row.says()))
        .doesNotHaveDuplicates();
  }

  @Test
  void noCaseSpoilsTheTable() {
    assertThat(CaseTable.rows())
        .allSatisfy(
            row ->
                assertThat(row.prefix())
                    .doesNotContain("\n")
                    .doesNotContain("  ")
                    .matches("[^|]*(\\|[^|]+){3}\\|"));
  }

  @Test
  void oneFailedInvocationFailsTheCase() {
    assertThat(Outcome.PASSED.worse(Outcome.FAILED)).isEqualTo(Outcome.FAILED);
    assertThat(Outcome.FAILED.worse(Outcome.PASSED)).isEqualTo(Outcome.FAILED);
    assertThat(Outcome.NOT_RUN.worse(Outcome.PASSED)).isEqualTo(Outcome.NOT_RUN);
    assertThat(Outcome.PASSED.worse(Outcome.PASSED)).isEqualTo(Outcome.PASSED);
  }

  @Test
  void whatIsUnsupportedIsSaidOnlyWhenItsTestPassed() {
    assertThat(row("a.Test#b", true).result(Outcome.PASSED)).isEqualTo("UNSUPPORTED");
    assertThat(row("a.Test#b", true).result(Outcome.FAILED)).isEqualTo("failed");
    assertThat(row("a.Test#b", false).result(Outcome.PASSED)).isEqualTo("passed");
    assertThat(row("", true).result(Outcome.NOT_RUN)).isEqualTo("UNSUPPORTED");
    assertThat(row("", false).result(Outcome.NOT_RUN)).isEqualTo("not applicable");
  }

  @Test
  void linesAreComparedWithoutTheirResults() {
    List<Row> rows = List.of(row("a.Test#b", false), row("", false));
    String passed = CaseTable.render(rows, row -> Outcome.PASSED);
    String failed = CaseTable.render(rows, row -> Outcome.FAILED);
    assertThat(passed).isNotEqualTo(failed);
    assertThat(CaseTable.cases(passed))
        .isEqualTo(CaseTable.cases(failed))
        .containsExactly("| source | must | `Test#b` |", "| source | must | reason |");
  }
}
