package org.hghca.tools.perf.peers;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.hghca.programs.ExitCode;
import org.hghca.tools.CommandLineRun;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** hghca beside what else moves messages between processes; and the table of the README. */
class PerfPeersCommandTest {
  private static final String MARKER = "<!-- Made by: tools/bin/hghca perf peers --markdown -->";

  private static final List<String> NAMES = names(Table.MESSAGES);

  private static List<String> names(Table table) {
    return table.rows().stream().map(Row::name).toList();
  }

  private static List<String> cells(String row) {
    return List.of(row.strip().replaceAll("^\\||\\|$", "").split("\\|")).stream()
        .map(String::strip)
        .toList();
  }

  private static List<String> table(String readme) {
    return readme
        .lines()
        .dropWhile(line -> !line.equals(MARKER))
        .skip(1)
        .dropWhile(String::isEmpty)
        .takeWhile(line -> line.startsWith("|"))
        .toList();
  }

  private static String readme(String name) throws IOException {
    Path at = Path.of("").toAbsolutePath();
    while (!Files.isDirectory(at.resolve("conformance-tests"))) {
      at = at.getParent();
    }
    return Files.readString(at.resolve(name));
  }

  @Test
  void measuresEveryRowOfMessages() throws Exception {
    Map<String, Object> json = measured(Table.MESSAGES, "perf peers -D 0.06 --json");
    assertThat(json)
        .containsEntry("round_trip_bytes", 8)
        .containsEntry("stream_bytes", List.of(65_536, 1 << 20));
  }

  /** Its rows start 30 JVMs. */
  @Tag("long")
  @Timeout(value = 8, unit = TimeUnit.MINUTES)
  @Test
  void measuresEveryRowOfSockets() throws Exception {
    Map<String, Object> json = measured(Table.SOCKETS, "perf peers --sockets -D 0.06 --json");
    assertThat(json)
        .containsEntry("round_trip_bytes", 64)
        .containsEntry("stream_bytes", List.of(65_536));
  }

  private static Map<String, Object> measured(Table table, String command) throws Exception {
    CommandLineRun run = CommandLineRun.of(command.split(" ")).assertExit(0);
    assertThat(run.err()).isEmpty();
    Map<String, Object> json = JSON.std.mapFrom(run.out());
    assertThat(((Map<?, ?>) json.get("facts")).get("command")).isEqualTo("hghca " + command);
    List<?> rows = (List<?>) json.get("rows");
    assertThat(rows).extracting("name").isEqualTo(names(table));
    for (Object each : rows) {
      assertThat((Map<?, ?>) each).as("%s", each).satisfies(PerfPeersCommandTest::isSensible);
    }
    return json;
  }

  private static void isSensible(Map<?, ?> row) {
    String name = (String) row.get("name");
    if (name.endsWith("one processor") && row.containsKey("reason")) {
      assertThat(row.get("reason")).isEqualTo("needs taskset, of util-linux");
      return;
    }
    double median = ((Number) row.get("round_trip_p50_us")).doubleValue();
    assertThat(median).isPositive();
    assertThat(((Number) row.get("round_trip_p99_us")).doubleValue())
        .isGreaterThanOrEqualTo(median);
    List<?> streams = (List<?>) row.get("stream_MB_per_second");
    assertThat(streams)
        .hasSize(name.startsWith("UDP sockets") ? 0 : Table.row(name).work().streams().size())
        .allSatisfy(rate -> assertThat(((Number) rate).doubleValue()).isPositive());
    assertThat(((Number) row.get("round_trips_per_second")).doubleValue()).isPositive();
    // Of a short measurement it may be 0: the system counts in hundredths of a second.
    assertThat(((Number) row.get("processor_us_per_message")).doubleValue()).isNotNegative();
    assertThat(row.get("compilers_rested")).isInstanceOf(Boolean.class);
  }

  @Test
  void tableOfTheReadmeIsWhatTheCommandPrints() throws Exception {
    List<PeerRow> rows =
        Table.MESSAGES.rows().stream()
            .map(row -> PeersReportTest.measured(row.name(), row.carrier()))
            .toList();
    List<String> printed =
        new PeersReport(Map.of(), Table.MESSAGES, rows).markdown().lines().toList();
    List<String> shown = table(readme("README.md"));
    assertThat(shown).hasSameSizeAs(printed);
    assertThat(shown.subList(0, 2)).isEqualTo(printed.subList(0, 2));
    for (int i = 2; i < printed.size(); i++) {
      assertThat(kinds(shown.get(i))).isEqualTo(kinds(printed.get(i)));
    }
  }

  /** Its cells with a 0 for every figure. */
  private static List<String> kinds(String row) {
    List<String> cells = cells(row);
    return cells.stream()
        .map(cell -> cells.indexOf(cell) == 0 ? cell : cell.replaceAll("[0-9.,]+", "0"))
        .toList();
  }

  @Test
  void translationHasTheFiguresOfTheReadme() throws Exception {
    List<String> english = table(readme("README.md"));
    List<String> chinese = table(readme("README.zh.md"));
    assertThat(chinese).hasSameSizeAs(english).hasSize(2 + NAMES.size());
    for (int i = 2; i < english.size(); i++) {
      assertThat(figures(chinese.get(i))).isEqualTo(figures(english.get(i)));
    }
  }

  private static List<String> figures(String row) {
    return cells(row).stream().skip(1).map(cell -> cell.replaceAll("[^0-9.,-]", "")).toList();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "-D 0 | -D must be more than 0, up to 3600",
        "-D 3601 | -D must be more than 0, up to 3600",
        "--json --markdown | --json and --markdown exclude each other",
        "--fast | \"Unknown option: '--fast'\""
      })
  void isRefused(String options, String message) {
    CommandLineRun run =
        CommandLineRun.of(("perf peers " + options).split(" ")).assertExit(ExitCode.USAGE.code());
    assertThat(run.err()).contains(message);
    assertThat(run.out()).isEmpty();
  }
}
