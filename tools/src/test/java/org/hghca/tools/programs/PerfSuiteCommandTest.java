package org.hghca.tools.programs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.RunningCommand;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

/** All tests of perf in one process, and what the report says. */
class PerfSuiteCommandTest {
  private static final String[] TITLES = {
    "ib_send_bw, RC",
    "ib_send_bw, UC",
    "ib_send_bw, UD",
    "ib_send_lat, RC",
    "ib_send_lat, UC",
    "ib_send_lat, UD",
    "ib_write_bw, RC",
    "ib_write_bw, UC",
    "ib_write_lat, RC",
    "ib_write_lat, UC",
    "ib_read_bw, RC",
    "ib_read_lat, RC",
    "ib_atomic_bw, RC",
    "ib_atomic_lat, RC"
  };

  private static List<Map<?, ?>> tests(String json) throws IOException {
    List<Map<?, ?>> tests = new ArrayList<>();
    for (Object each : (List<?>) JSON.std.mapFrom(json).get("tests")) {
      tests.add((Map<?, ?>) each);
    }
    return tests;
  }

  private static List<String> info(List<Map<?, ?>> tests, String name) {
    return tests.stream()
        .map(test -> ((Map<?, ?>) test.get("test_info")).get(name).toString())
        .toList();
  }

  private static List<String> texts(Document page, String tag) {
    NodeList nodes = page.getElementsByTagName(tag);
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < nodes.getLength(); i++) {
      texts.add(nodes.item(i).getTextContent().strip());
    }
    return texts;
  }

  @Test
  void measuresEveryTestAndReportsInEveryForm(@TempDir Path folder) throws Exception {
    Path html = folder.resolve("suite.html");
    Path json = folder.resolve("suite.json");
    CommandLineRun run =
        CommandLineRun.of(
                "perf",
                "suite",
                "-D",
                "3",
                "-s",
                "8,4096",
                "--html",
                "" + html,
                "--out_json_file",
                "" + json)
            .assertExit(0);
    assertThat(run.err())
        .isEqualTo("hghca: using two embedded software HCAs; name others with --ib-dev\n");
    assertThat(run.out())
        .contains("                    RDMA_Write BW Test, ib_write_bw, RC\n #bytes  ")
        .containsPattern("\n26 rows measured, 0 failed, 0 not supported by the device, \\d+ s\n");

    List<Map<?, ?>> tests = tests(Files.readString(json));
    assertThat(info(tests, "test"))
        .startsWith("Send_BW_Test", "Send_BW_Test", "Send_BW_Test", "Send_Latency_Test")
        .endsWith("Atomic_FETCH_AND_ADD_BW_Test", "Atomic_FETCH_AND_ADD_Latency_Test");
    assertThat(tests)
        .extracting(test -> ((List<?>) test.get("results")).size())
        .containsExactly(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1);
    assertThat(JSON.std.mapFrom(Files.readString(json)).get("facts"))
        .extracting(facts -> ((Map<?, ?>) facts).keySet().toString())
        .asString()
        .contains("client's profile", "server's port", "kernel", "CPU", "JVM");

    Document page = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(html.toFile());
    assertThat(texts(page, "h2")).startsWith(TITLES).endsWith("Environment");
    assertThat(texts(page, "figcaption"))
        .startsWith("Throughput by size", "Median latency by size")
        .contains("Messages by size", "Distribution of latencies");

    CommandLineRun same = CommandLineRun.of("perf", "compare", "" + json, "" + json).assertExit(0);
    assertThat(same.out().lines()).hasSizeGreaterThan(26).noneMatch(l -> l.startsWith("only"));
  }

  @Test
  void failedRowIsARowAndNotTheEnd() throws Exception {
    CommandLineRun run =
        CommandLineRun.of(
                ("perf suite ib_write_bw ib_read_lat -D 0.1 -s 8 -u 4 --json"
                        + " -d model:a?cable=lossy&drop=1 -d model:b?cable=lossy&drop=1")
                    .split(" "))
            .assertExit(1);
    List<Map<?, ?>> tests = tests(run.out());
    assertThat(info(tests, "Connection_type")).containsExactly("RC", "UC", "RC");
    for (int rc : new int[] {0, 2}) {
      assertThat(tests.get(rc).get("results")).isEqualTo(List.of());
      assertThat(tests.get(rc).get("failures").toString()).contains("retry");
    }
  }

  @Test
  void whatTheDeviceLacksIsNoFailure() throws Exception {
    CommandLineRun run =
        CommandLineRun.of(
                ("perf suite ib_atomic_bw ib_atomic_lat -D 1 --json"
                        + " -d model:a?cable=rtl&profile=r1 -d model:b?cable=rtl&profile=r1")
                    .split(" "))
            .assertExit(0);
    assertThat(tests(run.out()))
        .hasSize(2)
        .allSatisfy(
            test -> assertThat(test.get("unsupported").toString()).contains("it has no atomics"));
  }

  @Test
  void interruptedSuiteReportsTheRowsSoFar(@TempDir Path folder) throws Exception {
    Path json = folder.resolve("suite.json");
    try (RunningCommand running =
        RunningCommand.start("perf suite -D 30 -s 8 --out_json_file " + json)) {
      running.awaitOutput("\n 8   ");
      running.interrupt();
      CommandLineRun run = running.await().assertExit(130);
      assertThat(run.out()).contains(" failed, 0 not supported by the device, ");
    }
    assertThat(tests(Files.readString(json))).isNotEmpty();
    assertThat((List<?>) tests(Files.readString(json)).getFirst().get("results")).hasSize(1);
  }

  @Test
  void oneDeviceTalksToItself() {
    CommandLineRun run =
        CommandLineRun.of(
                "perf",
                "suite",
                "ib_read_lat",
                "-D",
                "0.2",
                "-s",
                "64",
                "-d",
                "model:a?net=udp:127.0.5.63")
            .assertExit(0);
    assertThat(run.out()).contains("\n 64  ");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "-d a -d b -d c | 2 | Two sides, so at most two devices",
        "-D 0 | 2 | -D must be more than 0, up to 3600",
        "-s 0 | 2 | -s must be from 1 to 8388608, not 0",
        "ib_write_bandwidth | 2 | is no test; there are: ib_send_bw ib_send_lat ib_write_bw",
        "-R | 2 | -R and -z are not supported: both sides are in this process",
        "-d nosuch | 3 | hghca: no RDMA device 'nosuch'",
        "--html / | 5 | hghca: / cannot be written: it is a folder: name another file",
        "--out_json_file / | 5 | hghca: / cannot be written: it is a folder: name another file"
      })
  void isRefused(String options, int code, String message) {
    CommandLineRun run = CommandLineRun.of(("perf suite " + options).split(" ")).assertExit(code);
    assertThat(run.err()).contains(message);
    assertThat(run.out()).isEmpty();
  }
}
