package org.hghca.tools.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.ObjectName;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.RunningCommand;
import org.hghca.verbs.Counter;
import org.hghca.verbs.RdmaMetrics;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** All that show counters show the same, those of other processes with what these publish. */
@Timeout(120)
class MonitorCommandsTest {
  private static final String RUNTIME = "hghca.runtime.dir";

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

  @SuppressWarnings("unchecked")
  private static List<Map<String, Object>> list(Map<String, Object> json, String key) {
    return (List<Map<String, Object>>) json.get(key);
  }

  private static List<Map<String, Object>> programs() throws Exception {
    CommandLineRun run = CommandLineRun.of("top", "--once", "--json").assertExit(0);
    assertThat(run.err()).isEmpty();
    return list(JSON.std.mapFrom(run.out()), "programs");
  }

  /** The document of a device, when its published counters are those that it has now. */
  private static Map<String, Object> published(ConnectedPair.End end) throws Exception {
    while (true) {
      for (Map<String, Object> program : programs()) {
        if (program.get("device").equals(end.context.device().name())
            && values(list(program, "contexts").getFirst()).equals(end.counted())) {
          return program;
        }
      }
      Thread.onSpinWait();
    }
  }

  /** Those of JSON that are counters. */
  private static Map<String, Long> values(Map<String, Object> json) {
    Map<String, Long> values = new HashMap<>();
    for (Counter counter : Counter.values()) {
      if (json.get(counter.text()) instanceof Number number) {
        values.put(counter.text(), number.longValue());
      }
    }
    return values;
  }

  /** The values of a device's context in a text of OpenMetrics. */
  private static Map<String, Long> values(String text, String device) {
    Map<String, Long> values = new HashMap<>();
    Matcher sample =
        Pattern.compile(
                "(?m)^hghca_([a-z_]+)\\{[^}]*,device=\"%s\",context=\"\\d+\"} (\\d+)$"
                    .formatted(Pattern.quote(device)))
            .matcher(text);
    while (sample.find()) {
      values.put(sample.group(1).replaceAll("_total$", ""), Long.valueOf(sample.group(2)));
    }
    return values;
  }

  private static String camel(String name) {
    return Pattern.compile("_([a-z])")
        .matcher(name)
        .replaceAll(letter -> letter.group(1).toUpperCase(Locale.ROOT));
  }

  private static Map<String, Long> ofJmx(String device) throws Exception {
    ObjectName pattern =
        new ObjectName("org.hghca:type=Counters,device=%s,*".formatted(ObjectName.quote(device)));
    var beans = ManagementFactory.getPlatformMBeanServer();
    ObjectName name = beans.queryNames(pattern, null).iterator().next();
    Map<String, Long> values = new HashMap<>();
    for (Counter counter : Counter.values()) {
      String attribute = camel("_" + counter.text());
      values.put(counter.text(), (Long) beans.getAttribute(name, attribute));
    }
    return values;
  }

  private static Map<String, Long> ofFlightRecorder(String device) throws Exception {
    CompletableFuture<RecordedEvent> found = new CompletableFuture<>();
    try (RecordingStream stream = new RecordingStream()) {
      stream.setReuse(false);
      stream.enable("hghca.Counters").withPeriod(Duration.ofMillis(10));
      stream.onEvent(
          "hghca.Counters",
          event -> {
            if (event.getString("device").equals(device)) {
              found.complete(event);
            }
          });
      stream.startAsync();
      RecordedEvent event = found.get(60, TimeUnit.SECONDS);
      Map<String, Long> values = new HashMap<>();
      for (Counter counter : Counter.values()) {
        values.put(counter.text(), event.getLong(camel(counter.text())));
      }
      return values;
    }
  }

  @Test
  void allSourcesAgreeToTheNumber() throws Exception {
    System.setProperty("hghca.jmx", "true");
    try (ConnectedPair pair = new ConnectedPair("agree")) {
      for (int i = 1; i <= 7; i++) {
        pair.send(1000 * i);
      }
      String device = pair.left.context.device().name();
      Map<String, Object> top = published(pair.left);
      Map<String, Long> told = pair.left.counted();
      assertThat(told)
          .containsEntry("sent_bytes", 28_000L)
          .containsEntry("sends_posted", 7L)
          .containsEntry("completions", 7L)
          .containsEntry("connections", 1L)
          .containsEntry("registered_bytes", 65_536L);
      assertThat(values(list(top, "contexts").getFirst())).as("top").isEqualTo(told);
      assertThat(values(CommandLineRun.of("metrics").assertExit(0).out(), device))
          .as("metrics")
          .isEqualTo(told);
      assertThat(values(RdmaMetrics.openMetrics(), device)).as("own metrics").isEqualTo(told);
      assertThat(ofJmx(device)).as("JMX").isEqualTo(told);
      assertThat(ofFlightRecorder(device)).as("Flight Recorder").isEqualTo(told);

      Map<String, Object> qp = list(top, "queue_pairs").getFirst();
      assertThat(qp)
          .containsEntry("number", pair.left.qp.number())
          .containsEntry("type", "RC")
          .containsEntry("state", "RTS")
          .containsEntry("peer_number", pair.right.qp.number())
          .containsEntry("sent_bytes", 28_000)
          .containsEntry("sends_posted", 7)
          .containsEntry("received_bytes", 0)
          .containsEntry("failures", 0);
      assertThat(list(top, "completion_queues").getFirst()).containsEntry("completions", 7);
      assertThat((Integer) list(top, "ports").getFirst().get("packets_sent"))
          .isGreaterThanOrEqualTo(28);
      assertThat(list(published(pair.right), "queue_pairs").getFirst())
          .containsEntry("received_bytes", 28_000)
          .containsEntry("receives_posted", 7);
    } finally {
      System.clearProperty("hghca.jmx");
    }
    assertThat(programs()).isEmpty();
  }

  @Test
  void tablesShowProgramsConnectionsAndUsers() throws Exception {
    try (ConnectedPair pair = new ConnectedPair("table")) {
      pair.send(3000);
      published(pair.left);
      published(pair.right);
      String qp = "0x%06x".formatted(pair.left.qp.number());
      List<String> lines = CommandLineRun.of("top", "--once").assertExit(0).out().lines().toList();
      assertThat(lines.getFirst()).contains("PID", "PROGRAM", "QP", "SENT", "RECV", "PEER");
      assertThat(lines)
          .anyMatch(
              line ->
                  line.matches(
                      " *%d .*model:table-left.* %s +RC +RTS +3.00k +0 +1 +0 .*"
                          .formatted(ProcessHandle.current().pid(), qp)));
      List<String> narrow =
          CommandLineRun.of("top", "--once", "--width", "40").assertExit(0).out().lines().toList();
      assertThat(narrow).hasSameSizeAs(lines).allMatch(line -> line.length() <= 40);
      assertThat(narrow).anyMatch(line -> line.contains(qp) && line.contains("3.00k"));
      assertThat(CommandLineRun.of("list", "--users").assertExit(0).out().lines())
          .anyMatch(
              line ->
                  line.matches(
                      " +model:table-left\\S* +%d +1 +1  .+"
                          .formatted(ProcessHandle.current().pid())));
    }
    assertThat(CommandLineRun.of("list", "--users").assertExit(0).out())
        .contains("no program has a device open");
    assertThat(CommandLineRun.of("top", "--once").assertExit(0).out())
        .contains("no program has a device open");
  }

  @Test
  void serverAnswersCollectors() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    try (ConnectedPair pair = new ConnectedPair("serve");
        RunningCommand server = RunningCommand.start("metrics --listen 127.0.0.1:" + port);
        HttpClient client = HttpClient.newHttpClient()) {
      pair.send(100);
      published(pair.left);
      String url = "http://127.0.0.1:%d/metrics".formatted(port);
      server.awaitOutput("metrics at " + url);
      HttpResponse<String> answer = get(client, url);
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.headers().firstValue("Content-Type"))
          .contains("application/openmetrics-text; version=1.0.0; charset=utf-8");
      assertThat(values(answer.body(), pair.left.context.device().name()))
          .containsEntry("sent_bytes", 100L)
          .isEqualTo(pair.left.counted());
      assertThat(get(client, url + "/x").statusCode()).isEqualTo(404);
      server.interrupt();
      assertThat(server.await().exitCode()).isZero();
    }
  }

  private static HttpResponse<String> get(HttpClient client, String url) throws Exception {
    return client.send(
        HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void whatIsWrongIsOneLine() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String address = "127.0.0.1:" + taken.getLocalPort();
      CommandLineRun run = CommandLineRun.of("metrics", "--listen", address).assertExit(1);
      assertThat(run.err().lines()).hasSize(1);
      assertThat(run.err()).contains("cannot listen on", address, "in use");
    }
    assertThat(CommandLineRun.of("metrics", "--listen", "9464").assertExit(2).err())
        .contains("'9464' is no address and port");
    CommandLineRun terminal = CommandLineRun.of("top").assertExit(2);
    assertThat(terminal.err())
        .isEqualTo("hghca: top needs a terminal: --once prints a table, --json is for programs\n");
    assertThat(CommandLineRun.of("top", "--interval", "0").assertExit(2).err())
        .contains("--interval takes 0.1 to 3600 seconds");
    Path directory = Path.of(System.getProperty(RUNTIME));
    Files.createDirectories(directory.resolve("counters"));
    Path cut = Files.writeString(directory.resolve("counters/1-1.counters"), "HGHCA");
    CommandLineRun bad = CommandLineRun.of("top", "--once").assertExit(0);
    assertThat(bad.err()).isEqualTo("hghca: %s is cut short\n".formatted(cut));
  }

  @Test
  void withoutADirectoryNothingIsPublishedAndEverythingElseWorks() throws Exception {
    System.setProperty(RUNTIME, folder.resolve("not/there").toString());
    try (ConnectedPair pair = new ConnectedPair("nowhere")) {
      pair.send(10);
      assertThat(values(RdmaMetrics.openMetrics(), pair.left.context.device().name()))
          .containsEntry("sent_bytes", 10L);
    }
    for (String command : List.of("top --once", "metrics")) {
      CommandLineRun run = CommandLineRun.of(command.split(" ")).assertExit(1);
      assertThat(run.out()).isEmpty();
      assertThat(run.err().lines()).hasSize(1);
      assertThat(run.err())
          .contains("no program shows its counters", "not/there", "-Dhghca.runtime.dir=DIR");
    }
  }
}
