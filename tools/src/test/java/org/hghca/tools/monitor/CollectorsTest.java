package org.hghca.tools.monitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.RunningCommand;
import org.hghca.verbs.Counter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What others make of the metrics. A test is skipped where its program is not installed. */
@Timeout(120)
class CollectorsTest {
  /** Prints a line for each sample, after the parser has accepted the whole text. */
  private static final String PARSER =
      """
      import sys
      from prometheus_client.openmetrics.parser import text_string_to_metric_families
      for family in list(text_string_to_metric_families(sys.stdin.read())):
          for sample in family.samples:
              if "context" in sample.labels and "qp" not in sample.labels \
      and "cq" not in sample.labels:
                  print(family.type, sample.name, sample.labels["device"], int(sample.value))
      """;

  @TempDir private Path folder;
  private OwnRuntimeDirectory runtime;

  @BeforeEach
  void ownDirectory() throws Exception {
    runtime = OwnRuntimeDirectory.in(folder);
  }

  @AfterEach
  void formerDirectory() {
    runtime.close();
  }

  private static void assumeRuns(String... command) throws Exception {
    boolean runs;
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      runs = process.waitFor() == 0;
    } catch (IOException e) {
      runs = false;
    }
    assumeThat(runs).as("%s runs", List.of(command)).isTrue();
  }

  private static int freePort() throws IOException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    }
  }

  private static Counter counter(String metric) {
    String text = metric.replaceAll("^hghca_", "").replaceAll("_total$", "");
    for (Counter counter : Counter.values()) {
      if (counter.text().equals(text)) {
        return counter;
      }
    }
    throw new AssertionError("no counter is " + metric);
  }

  @Test
  void parserOfPrometheusAcceptsAllAndReadsTheNumbers() throws Exception {
    assumeRuns("/usr/bin/python3", "-c", "import prometheus_client.openmetrics.parser");
    try (ConnectedPair pair = new ConnectedPair("parsed")) {
      pair.send(1234);
      String device = pair.left.context.device().name();
      String told = published(pair, device);
      Path text = Files.writeString(folder.resolve("metrics"), told);
      Process parser =
          new ProcessBuilder("/usr/bin/python3", "-c", PARSER)
              .redirectInput(text.toFile())
              .redirectErrorStream(true)
              .start();
      Map<String, Long> read = new HashMap<>();
      String printed = new String(parser.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(parser.waitFor()).as(printed).isZero();
      for (String line : printed.lines().toList()) {
        String[] words = line.split(" ");
        assertThat(words[0]).as(line).isIn("counter", "gauge");
        assertThat(words[1].endsWith("_total")).as(line).isEqualTo(words[0].equals("counter"));
        if (words[2].equals(device)) {
          read.put(counter(words[1]).text(), Long.valueOf(words[3]));
        }
      }
      assertThat(read).containsEntry("sent_bytes", 1234L).isEqualTo(pair.left.counted());
    }
  }

  /** The metrics of all processes, when they have the present numbers. */
  private static String published(ConnectedPair pair, String device) {
    String sent = "device=\"%s\",context=".formatted(device);
    while (true) {
      String text = CommandLineRun.of("metrics").assertExit(0).out();
      boolean present =
          pair.left.counted().entrySet().stream()
              .allMatch(
                  entry ->
                      text.lines()
                          .anyMatch(
                              line ->
                                  line.matches("hghca_" + entry.getKey() + "(_total)?\\{.*")
                                      && line.contains(sent)
                                      && line.endsWith("} " + entry.getValue())));
      if (present) {
        return text;
      }
      Thread.onSpinWait();
    }
  }

  @Test
  void prometheusScrapesTheNumbers() throws Exception {
    assumeRuns("prometheus", "--version");
    int exporter = freePort();
    int port = freePort();
    Path config =
        Files.writeString(
            folder.resolve("prometheus.yml"),
            """
            global: {scrape_interval: 200ms, scrape_timeout: 200ms}
            scrape_configs:
              - job_name: hghca
                static_configs: [{targets: ["127.0.0.1:%d"]}]
            """
                .formatted(exporter));
    try (ConnectedPair pair = new ConnectedPair("scraped");
        RunningCommand server = RunningCommand.start("metrics --listen 127.0.0.1:" + exporter);
        HttpClient client = HttpClient.newHttpClient()) {
      pair.send(4321);
      server.awaitOutput("metrics at http://127.0.0.1:" + exporter);
      Process prometheus =
          new ProcessBuilder(
                  "prometheus",
                  "--config.file=" + config,
                  "--storage.tsdb.path=" + folder.resolve("data"),
                  "--web.listen-address=127.0.0.1:" + port)
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve("prometheus.log").toFile())
              .start();
      try {
        String device = pair.left.context.device().name();
        Map<String, Long> scraped;
        do {
          assertThat(prometheus.isAlive())
              .as(Files.readString(folder.resolve("prometheus.log")))
              .isTrue();
          scraped = query(client, port, device);
        } while (!scraped.equals(pair.left.counted()));
        assertThat(scraped)
            .containsEntry("sent_bytes", 4321L)
            .containsEntry("sends_posted", 1L)
            .containsEntry("connections", 1L);
      } finally {
        prometheus.destroy();
        assertThat(prometheus.waitFor(60, TimeUnit.SECONDS)).isTrue();
      }
    }
  }

  /** The samples of a device's context that Prometheus has; none before it answers. */
  @SuppressWarnings("unchecked")
  private static Map<String, Long> query(HttpClient client, int port, String device)
      throws Exception {
    String query =
        URLEncoder.encode(
            "{__name__=~\"hghca_.+\",device=\"%s\",context!=\"\",qp=\"\",cq=\"\"}"
                .formatted(device),
            StandardCharsets.UTF_8);
    URI uri = URI.create("http://127.0.0.1:%d/api/v1/query?query=%s".formatted(port, query));
    Map<String, Long> values = new HashMap<>();
    HttpResponse<String> answer;
    try {
      answer =
          client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      return values;
    }
    if (answer.statusCode() != 200) {
      return values;
    }
    Map<String, Object> data = (Map<String, Object>) JSON.std.mapFrom(answer.body()).get("data");
    for (Map<String, Object> sample : (List<Map<String, Object>>) data.get("result")) {
      String name = ((Map<String, String>) sample.get("metric")).get("__name__");
      String value = (String) ((List<Object>) sample.get("value")).get(1);
      values.put(counter(name).text(), Long.valueOf(value));
    }
    return values;
  }
}
