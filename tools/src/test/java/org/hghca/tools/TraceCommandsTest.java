package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.hghca.programs.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code --trace} and {@code trace=} write. */
class TraceCommandsTest {
  @TempDir Path folder;

  private Path file(String name) {
    return folder.resolve(name);
  }

  private String option(String name) {
    return "--trace=" + file(name);
  }

  /** Lines of events; the first are about file and devices. */
  private List<Map<String, Object>> events(String name) throws IOException {
    List<Map<String, Object>> events = new ArrayList<>();
    for (String line : Files.readAllLines(file(name))) {
      Map<String, Object> object = JSON.std.mapFrom(line);
      if (object.containsKey("kind")) {
        events.add(object);
      }
    }
    return events;
  }

  private static List<Map<String, Object>> of(List<Map<String, Object>> events, String kind) {
    return events.stream().filter(event -> event.get("kind").equals(kind)).toList();
  }

  private static List<Object> titles(List<Map<String, Object>> events) {
    return events.stream().map(event -> event.get("title")).distinct().toList();
  }

  @Test
  void bringUpByHandAndThroughTheDriverIsOneTimeLine() throws IOException {
    CommandLineRun run =
        CommandLineRun.of(
                "bringup",
                "-d",
                "model:trace",
                "--only=hcr.unknown,cmd.bad-param,path.doorbell,loop.send,rc.send,event.interrupt",
                "--seconds=0",
                option("run.jsonl"))
            .assertExit(0);
    assertThat(run.out()).contains("model:trace: PASSED").doesNotContain("run.jsonl");
    assertThat(run.err()).containsPattern("hghca: trace .*run.jsonl: \\d+ events");
    List<Map<String, Object>> events = events("run.jsonl");
    assertThat(events).allMatch(event -> event.get("device").equals("model:trace"));
    assertThat(titles(of(events, "step"))).contains("open", "loop.send", "rc.send");
    assertThat(titles(of(events, "command")))
        .contains("opcode fffh", "INIT_HCA", "MAP_ICM", "SW2HW_CQ", "RTR2RTS", "QUERY_QP");
    assertThat(of(events, "dma-map")).isNotEmpty();
    assertThat(of(events, "reset")).isNotEmpty();
    assertThat(titles(of(events, "eqe"))).contains("COMPLETION");
    assertThat(of(events, "interrupt")).isNotEmpty();
    // By hand.
    Map<String, Object> step = first(events, "step", "loop.send");
    assertThat(step).containsEntry("verdict", "PASS");
    List<Map<String, Object>> inStep = within(events, step);
    assertThat(titles(of(inStep, "doorbell"))).containsExactly("doorbell SEND");
    assertThat(titles(of(inStep, "cqe")))
        .containsExactlyInAnyOrder("CQE SEND", "CQE received SEND (0x4)");
    assertThat(inStep)
        .filteredOn(event -> event.get("title").equals("CQE SEND"))
        .first()
        .satisfies(
            cqe ->
                assertThat(cqe)
                    .containsEntry("status", "success")
                    .containsEntry("wqe", "0x0")
                    .containsEntry("qpn", of(inStep, "doorbell").getFirst().get("qpn")));
    // Through the driver.
    List<Map<String, Object>> driven = within(events, first(events, "step", "rc.send"));
    assertThat(of(driven, "doorbell")).hasSizeGreaterThan(10);
    assertThat(of(driven, "cqe")).hasSizeGreaterThan(20);
  }

  private static Map<String, Object> first(
      List<Map<String, Object>> events, String kind, String title) {
    return of(events, kind).stream()
        .filter(event -> event.get("title").equals(title))
        .findFirst()
        .orElseThrow();
  }

  private static List<Map<String, Object>> within(
      List<Map<String, Object>> events, Map<String, Object> span) {
    long begin = nanos(span, "ns");
    long end = begin + nanos(span, "took_ns");
    return events.stream()
        .filter(event -> nanos(event, "ns") >= begin && nanos(event, "ns") <= end)
        .toList();
  }

  private static long nanos(Map<String, Object> event, String name) {
    return ((Number) event.get(name)).longValue();
  }

  @Test
  void doorbellWithoutCompletionShowsInTheTraceOfAFailure() throws IOException {
    CommandLineRun.of(
            "bringup",
            "-d",
            "model:?fault=no-cqe",
            "--only=path.doorbell",
            "--limit=PT0.2S",
            option("run.jsonl"))
        .assertExit(ExitCode.FAILED.code());
    List<Map<String, Object>> events = events("run.jsonl");
    assertThat(of(events, "doorbell")).isNotEmpty();
    assertThat(of(events, "cqe")).isEmpty();
    assertThat(first(events, "step", "path.doorbell")).containsEntry("verdict", "FAIL");
  }

  @Test
  void traceEventsAreOneObjectWithNamedTracks() throws IOException {
    CommandLineRun.of(
            "bringup",
            "-d",
            "model:trace",
            "--only=path.doorbell,loop.send,event.interrupt",
            "--seconds=0",
            option("run.json"))
        .assertExit(0);
    Map<String, Object> all = JSON.std.mapFrom(Files.readString(file("run.json")));
    List<?> events = (List<?>) all.get("traceEvents");
    Map<Object, Object> processes = new HashMap<>();
    Map<Object, Object> threads = new HashMap<>();
    for (Object one : events) {
      Map<?, ?> event = (Map<?, ?>) one;
      List<Object> place = List.of(event.get("pid"), event.get("tid"));
      switch ((String) event.get("ph")) {
        case "M" -> {
          Object name = ((Map<?, ?>) event.get("args")).get("name");
          if (event.get("name").equals("process_name")) {
            processes.put(event.get("pid"), name);
          } else if (event.get("name").equals("thread_name")) {
            threads.put(place, name);
          }
        }
        case "X" -> assertThat(nanosOf(event.get("dur"))).isPositive();
        case "i" -> assertThat(event.get("s")).isEqualTo("t");
        default -> throw new AssertionError(event.toString());
      }
      if (event.get("ts") != null) {
        assertThat(threads).containsKey(place);
      }
    }
    assertThat(processes.values()).containsExactly("model:trace");
    assertThat(threads.values())
        .contains("commands", "interrupts", "DMA", "function")
        .anyMatch(track -> track.toString().matches("QP 0x[0-9a-f]+"))
        .anyMatch(track -> track.toString().matches("EQ 0x[0-9a-f]+"));
  }

  private static double nanosOf(Object micros) {
    return 1000 * ((Number) micros).doubleValue();
  }

  /**
   * A doorbell precedes the completions of its queue. A trace keeps the newest events: where a
   * device's older ones are lost, a queue is judged from its first doorbell in the file on.
   */
  @ParameterizedTest
  @ValueSource(strings = {"0.01", "0.5"})
  void completionsOfAQueuePairFollowItsDoorbells(String seconds) throws IOException {
    CommandLineRun.of("demo", "--seconds=" + seconds, option("demo.jsonl")).assertExit(0);
    Set<Object> incomplete = devicesThatLostEvents("demo.jsonl");
    Set<String> rung = new HashSet<>();
    int seen = 0;
    for (Map<String, Object> event : events("demo.jsonl")) {
      String queue = event.get("device") + " " + event.get("qpn");
      if (event.get("kind").equals("doorbell") && event.containsKey("qpn")) {
        rung.add(queue);
      } else if (event.get("kind").equals("cqe") && event.get("is_send").equals(1)) {
        if (!incomplete.contains(event.get("device"))) {
          assertThat(rung).as(event.toString()).contains(queue);
        }
        seen += rung.contains(queue) ? 1 : 0;
      }
    }
    assertThat(seen).isGreaterThan(10);
  }

  private Set<Object> devicesThatLostEvents(String name) throws IOException {
    Set<Object> devices = new HashSet<>();
    for (String line : Files.readAllLines(file(name))) {
      Map<String, Object> object = JSON.std.mapFrom(line);
      if (object.get("lost_data") instanceof Number lost && lost.longValue() > 0) {
        devices.add(object.get("device"));
      }
    }
    return devices;
  }

  @Test
  void virtioDeviceShowsItsQueuesAndCompletions() throws IOException {
    CommandLineRun.of(
            "demo",
            "--seconds=0.01",
            "-d=virtio:left?hub=traced",
            "-d=virtio:right?hub=traced",
            option("demo.jsonl"))
        .assertExit(0);
    List<Map<String, Object>> events = events("demo.jsonl");
    assertThat(titles(of(events, "command")))
        .contains("class 6 command 7", "class 6 command 9", "class 6 command 10");
    assertThat(of(events, "command")).allMatch(event -> event.get("status").equals("OK"));
    assertThat(of(events, "notification")).isNotEmpty();
    assertThat(of(events, "used")).isNotEmpty();
    assertThat(titles(of(events, "cqe"))).contains("CQE RDMA_WRITE");
    if (devicesThatLostEvents("demo.jsonl").isEmpty()) { // a fast machine writes more than is kept
      assertThat(titles(of(events, "cqe"))).contains("CQE SEND", "CQE RECV", "CQE RDMA_READ");
    }
    assertThat(of(events, "cqe"))
        .allMatch(event -> event.get("wr_id").toString().matches("0x[0-9a-f]+"));
  }

  @Test
  void perfTracesBothSides() throws IOException {
    CommandLineRun.of("perf", "suite", "ib_send_lat", "-s", "8", "-D", "0.1", option("perf.jsonl"))
        .assertExit(0);
    assertThat(events("perf.jsonl"))
        .extracting(event -> event.get("device"))
        .contains("model:left", "model:right");
  }

  @Test
  void locatorKeyWritesWhenTheDeviceCloses() throws IOException {
    CommandLineRun run =
        CommandLineRun.of(
                "demo",
                "--seconds=0.01",
                "-d=model:a?cable=keys&trace=" + file("a.jsonl"),
                "-d=model:b?cable=keys")
            .assertExit(0);
    assertThat(run.out()).contains("device model:a?cable=keys: port");
    assertThat(events("a.jsonl"))
        .isNotEmpty()
        .allMatch(event -> event.get("device").equals("model:a"));
  }

  @ParameterizedTest
  @CsvSource({
    "/no/where.json, there is no folder /no",
    "/, Is a directory",
    "/dev/full, No space left on device",
  })
  void fileThatCannotBeWrittenIsOneLine(String name, String why) {
    CommandLineRun run =
        CommandLineRun.of("bringup", "-d", "model:", "--only=pci.bars", "--trace=" + name)
            .assertExit(ExitCode.NO_OUTPUT.code());
    assertThat(run.err())
        .isEqualTo("hghca: the trace %s cannot be written: %s\n".formatted(name, why));
  }

  @Test
  void failureOfTheCommandIsNotHiddenByThatOfTheFile() {
    CommandLineRun run =
        CommandLineRun.of(
                "bringup", "-d", "model:?fault=small-bar2", "--only=pci.bars", "--trace=/dev/full")
            .assertExit(ExitCode.FAILED.code());
    assertThat(run.err()).contains("No space left on device");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a&b", "/tmp/x&trace=y"})
  void nameThatIsNoValueOfALocatorIsRefused(String name) {
    CommandLineRun run =
        CommandLineRun.of("demo", "--seconds=0", "--trace=" + name)
            .assertExit(ExitCode.USAGE.code());
    assertThat(run.err()).startsWith("--trace=" + name + ": a & is not possible in this name\n");
  }
}
