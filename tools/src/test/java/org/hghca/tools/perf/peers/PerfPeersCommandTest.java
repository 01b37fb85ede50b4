package org.hghca.tools.perf.peers;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.hghca.programs.ExitCode;
import org.hghca.tools.CommandLineRun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** hghca beside what else moves messages, in every form; and the table of the README. */
class PerfPeersCommandTest {
  private static final String MARKER = "<!-- Made by: tools/bin/hghca perf peers --markdown -->";

  private static final List<String> PEERS =
      List.of(
          "hghca, in process",
          "hghca, vfio-user",
          "hghca, RoCE v2 over UDP",
          "TCP sockets",
          "UDP sockets",
          "memory copy");

  private static final String MEASURED =
      "[0-9,.]+ MB/s, [0-9,.]+ us, [0-9,.]+ B|a datagram has at most 65,507 bytes";

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
  void measuresEverySizeOverEveryPeer() throws Exception {
    CommandLineRun run =
        CommandLineRun.of("perf", "peers", "-D", "2", "-s", "70000,8,8", "--json").assertExit(0);
    Map<String, Object> json = JSON.std.mapFrom(run.out());
    assertThat(((Map<?, ?>) json.get("facts")).get("command"))
        .isEqualTo("hghca perf peers -D 2 -s 70000,8,8 --json");
    assertThat(json).containsEntry("rounds", 5);
    List<?> rows = (List<?>) json.get("rows");
    assertThat(rows).extracting("bytes").containsExactly(sizes(8, 70_000));
    assertThat(rows.subList(0, 6)).extracting("peer").isEqualTo(PEERS);
    assertThat(rows.subList(6, 12)).extracting("peer").isEqualTo(PEERS);
    for (Object row : rows) {
      Map<?, ?> each = (Map<?, ?>) row;
      if (each.get("peer").equals("UDP sockets") && each.get("bytes").equals(70_000)) {
        assertThat(each.get("reason")).isEqualTo("a datagram has at most 65,507 bytes");
        assertThat(each.get("failed")).isEqualTo(false);
      } else {
        for (String figure : List.of("MB_per_second", "ping_pong_p50_us")) {
          assertThat(((Number) each.get(figure)).doubleValue()).as("%s", row).isPositive();
        }
        assertThat(((Number) each.get("allocated_bytes_per_message")).doubleValue())
            .isNotNegative();
      }
    }
  }

  private static Object[] sizes(int first, int second) {
    Object[] sizes = new Object[2 * PEERS.size()];
    for (int i = 0; i < sizes.length; i++) {
      sizes[i] = i < PEERS.size() ? first : second;
    }
    return sizes;
  }

  @Test
  void printsRowsAsText() {
    CommandLineRun run = CommandLineRun.of("perf", "peers", "-D", "1", "-s", "64").assertExit(0);
    List<String> lines = run.out().lines().toList();
    assertThat(lines.getFirst())
        .matches("peer +#bytes +MB/s +ping-pong p50\\[usec\\] +allocated\\[bytes/message\\]");
    assertThat(lines).hasSize(1 + PEERS.size());
    for (int i = 0; i < PEERS.size(); i++) {
      assertThat(lines.get(i + 1)).matches(PEERS.get(i) + " +64 +[0-9,.]+ +[0-9,.]+ +[0-9,.]+");
    }
  }

  @Test
  void tableOfTheReadmeIsWhatTheCommandPrints() throws Exception {
    CommandLineRun run = CommandLineRun.of("perf", "peers", "-D", "2", "--markdown").assertExit(0);
    List<String> printed = run.out().lines().toList();
    List<String> shown = table(readme("README.md"));
    assertThat(shown).hasSameSizeAs(printed);
    assertThat(shown.subList(0, 2)).isEqualTo(printed.subList(0, 2));
    assertThat(cells(printed.getFirst())).containsExactly("", "8 B", "4 KiB", "64 KiB", "1 MiB");
    for (int i = 0; i < PEERS.size(); i++) {
      for (String row : List.of(shown.get(i + 2), printed.get(i + 2))) {
        assertThat(cells(row)).hasSize(5).startsWith(PEERS.get(i));
        assertThat(cells(row).subList(1, 5)).allSatisfy(cell -> assertThat(cell).matches(MEASURED));
      }
    }
  }

  @Test
  void translationHasTheFiguresOfTheReadme() throws Exception {
    List<String> english = table(readme("README.md"));
    List<String> chinese = table(readme("README.zh.md"));
    assertThat(chinese).hasSameSizeAs(english).hasSize(2 + PEERS.size());
    for (int i = 0; i < english.size(); i++) {
      assertThat(figures(chinese.get(i))).isEqualTo(figures(english.get(i)));
    }
  }

  private static List<String> figures(String row) {
    return cells(row).stream().skip(1).map(cell -> cell.replaceAll("[^0-9.,]", "")).toList();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "-D 0 | -D must be more than 0, up to 3600",
        "-D 3601 | -D must be more than 0, up to 3600",
        "-s 0 | -s must be from 1 to 8388608, not 0",
        "-s 8,8388609 | -s must be from 1 to 8388608, not 8388609",
        "-s eight | \"'eight' is not a whole number\"",
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
