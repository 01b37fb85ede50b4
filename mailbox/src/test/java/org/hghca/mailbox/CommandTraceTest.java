package org.hghca.mailbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.ResizeCq;
import org.hghca.vfio.ForwardingFunction;
import org.hghca.vfio.trace.DeviceTrace;
import org.hghca.vfio.trace.TraceFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class CommandTraceTest {
  private final FakeHcr hcr = new FakeHcr();
  private final CommandInterface commands =
      CommandInterface.open(hcr.function, HardwareProfile.S, Duration.ofMillis(5));
  private final Logger logger = (Logger) LoggerFactory.getLogger("org.hghca.mailbox.trace");
  private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

  @TempDir Path directory;

  @AfterEach
  void stopListening() {
    logger.setLevel(null);
    logger.detachAppender(appender);
  }

  private void listen() {
    appender.start();
    logger.addAppender(appender);
    logger.setLevel(Level.DEBUG);
  }

  private String line() {
    assertThat(appender.list).hasSize(1);
    assertThat(appender.list.getFirst().getLevel()).isEqualTo(Level.DEBUG);
    return appender.list.getFirst().getFormattedMessage();
  }

  @Test
  void inboxIsLoggedDecoded() {
    listen();

    commands.resizeCq(0x1234, new ResizeCq(10, 0xbeef));

    assertThat(line())
        .contains("RESIZE_CQ", "op_modifier 0", "in_modifier 0x1234")
        .contains("in [logsize=0xa lkey=0xbeef]", "out []")
        .contains("HGHCA_CMD_STAT_OK")
        .containsPattern("after \\d+ us");
    assertThat(appender.list.getFirst().getKeyValuePairs())
        .extracting(pair -> pair.key + "=" + pair.value)
        .containsExactly("device=fake:card");
  }

  @Test
  void outboxIsLoggedDecoded() {
    listen();
    hcr.outbox = "00".repeat(24) + "0123456789abcdef";

    commands.queryAdapter();

    assertThat(line()).contains("in []", "out [board_id=0x123456789abcdef]");
  }

  @Test
  void immediateArgumentIsLogged() {
    listen();

    commands.unmapIcm(1, 0x40_3000, 2);

    assertThat(line()).contains("UNMAP_ICM", "op_modifier 1", "in_param 0x403000");
  }

  @Test
  void refusedCommandIsLoggedWithItsStatus() {
    listen();
    hcr.status = 3;

    assertThatThrownBy(commands::queryAdapter).isInstanceOf(CommandException.class);

    assertThat(line()).contains("QUERY_ADAPTER", "HGHCA_CMD_STAT_BAD_PARAM", "0x03");
  }

  @Test
  void commandThatDidNotEndIsLogged() {
    listen();
    hcr.hang = true;

    assertThatThrownBy(commands::closeHca).isInstanceOf(CommandTimeoutException.class);

    assertThat(line()).contains("CLOSE_HCA", "did not complete");
  }

  @Test
  void nothingIsLoggedAboveDebug() {
    listen();
    logger.setLevel(Level.INFO);

    commands.closeHca();

    assertThat(appender.list).isEmpty();
  }

  @Test
  void flightRecorderGetsEveryCommand() throws Exception {
    hcr.outbox = "00".repeat(24) + "0123456789abcdef";
    Path file = directory.resolve("commands.jfr");
    try (Recording recording = new Recording()) {
      recording.enable("hghca.Command").withThreshold(Duration.ZERO);
      recording.start();
      commands.mapIcm(1, List.of(new IcmChunk(0x40_0000, 0x7000, 3)));
      commands.queryAdapter();
      commands.mapEq(2, false, 0x10);
      recording.stop();
      recording.dump(file);
    }

    List<RecordedEvent> events = RecordingFile.readAllEvents(file);

    assertThat(events).hasSize(3).allMatch(e -> e.getEventType().getName().equals("hghca.Command"));
    RecordedEvent mapIcm = event(events, "MAP_ICM");
    assertThat(mapIcm.getString("device")).isEqualTo("fake:card");
    assertThat(mapIcm.getInt("opModifier")).isEqualTo(1);
    assertThat(mapIcm.getInt("inModifier")).isEqualTo(1);
    assertThat(mapIcm.getString("inbox")).contains("virt=0x400000", "page=0x7000", "page_num=0x3");
    assertThat(mapIcm.getString("status")).contains("HGHCA_CMD_STAT_OK");
    assertThat(event(events, "QUERY_ADAPTER").getString("outbox"))
        .isEqualTo("board_id=0x123456789abcdef");
    assertThat(event(events, "MAP_EQ").getLong("immediate")).isEqualTo(0x10);
    assertThat(events).allMatch(e -> !e.getDuration().isNegative() && !e.getDuration().isZero());
  }

  private static RecordedEvent event(List<RecordedEvent> events, String command) {
    return events.stream()
        .filter(e -> e.getString("command").equals(command))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void traceOfTheDeviceHasEveryCommand() throws Exception {
    Path file = directory.resolve("commands.jsonl");
    try (TraceFile _ = TraceFile.open(file.toString());
        CommandInterface traced =
            CommandInterface.open(
                new ForwardingFunction(hcr.function) {
                  @Override
                  public Optional<DeviceTrace> trace() {
                    return TraceFile.device(file.toString(), "fake:card");
                  }
                },
                HardwareProfile.S,
                Duration.ofMillis(5))) {
      traced.unmapIcm(1, 0x40_3000, 2);
      hcr.status = 3;
      assertThatThrownBy(traced::queryAdapter).isInstanceOf(CommandException.class);
      hcr.hang = true;
      assertThatThrownBy(traced::closeHca).isInstanceOf(CommandTimeoutException.class);
    }

    List<String> lines = Files.readAllLines(file);
    assertThat(lines).hasSize(5);
    assertThat(lines.get(2))
        .contains("\"took_ns\":", "\"track\":\"commands\",\"title\":\"UNMAP_ICM\"")
        .contains("\"op_modifier\":1,\"in_modifier\":\"0x2\",\"in_param\":\"0x403000\"")
        .contains("\"status\":\"HGHCA_CMD_STAT_OK ");
    assertThat(lines.get(3)).contains("QUERY_ADAPTER", "HGHCA_CMD_STAT_BAD_PARAM");
    assertThat(lines.get(4)).contains("CLOSE_HCA", "\"status\":\"no answer\"");
  }
}
