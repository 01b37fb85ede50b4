package org.hghca.tools.launch;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.ClassicConstants;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import com.fasterxml.jackson.jr.ob.JSON;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.hghca.vfio.user.UserServer;
import org.junit.jupiter.api.Test;
import org.slf4j.event.KeyValuePair;

/** The lines of the log of the command line. */
class LogFormatTest {
  private static String line(String format, KeyValuePair... pairs) {
    return line(format, null, pairs);
  }

  private static String line(String format, Throwable failure, KeyValuePair... pairs) {
    LoggerContext context = new LoggerContext();
    Logger logger = context.getLogger("org.hghca.cm.ib.GsiQueue");
    LoggingEvent event =
        new LoggingEvent(
            "", logger, Level.WARN, "{} has failed", failure, new Object[] {"a \"send\""});
    event.setInstant(Instant.parse("2026-11-29T08:00:00.123Z"));
    event.setKeyValuePairs(pairs.length == 0 ? null : List.of(pairs));
    return new String(
        LogConfigurator.encoder(context, format).encode(event), StandardCharsets.UTF_8);
  }

  @Test
  void textHasTimeLevelDeviceQueuePairAndPeer() {
    assertThat(
            line(
                "text",
                new KeyValuePair("device", "hghca0"),
                new KeyValuePair("qpn", "0x000001"),
                new KeyValuePair("peer", "10.0.0.1")))
        .matches(
            "2026-11-2\\dT\\d\\d:\\d\\d:00\\.123(Z|[+-]\\d\\d:\\d\\d) WARN  device=hghca0"
                + " qpn=0x000001 peer=10\\.0\\.0\\.1 GsiQueue: a \"send\" has failed\n");
    assertThat(line("text")).endsWith(" WARN  GsiQueue: a \"send\" has failed\n");
  }

  @Test
  void textHasTheStackOfAFailure() {
    assertThat(line("text", new IllegalStateException("gone")))
        .containsPattern(
            "has failed\\n"
                + "java\\.lang\\.IllegalStateException: gone\\n"
                + "\tat org\\.hghca\\.tools\\..*");
  }

  @Test
  void warnsOnStandardErrorAndServersAlsoInform() {
    LoggerContext context = new LoggerContext();
    String file = System.clearProperty(ClassicConstants.CONFIG_FILE_PROPERTY);
    try {
      assertThat(new LogConfigurator().configure(context))
          .isEqualTo(Configurator.ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY);
    } finally {
      if (file != null) {
        System.setProperty(ClassicConstants.CONFIG_FILE_PROPERTY, file);
      }
    }

    Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
    assertThat(root.getLevel()).isEqualTo(Level.WARN);
    assertThat(context.getLogger(UserServer.class).getLevel()).isEqualTo(Level.INFO);
    assertThat(root.iteratorForAppenders())
        .toIterable()
        .singleElement(InstanceOfAssertFactories.type(ConsoleAppender.class))
        .satisfies(
            lines -> {
              assertThat(lines.isStarted()).isTrue();
              assertThat(lines.getTarget()).isEqualTo("System.err");
            });
  }

  /** As tests name one. */
  @Test
  void leavesTheLogToAFileOfTheUser() {
    assertThat(System.getProperty(ClassicConstants.CONFIG_FILE_PROPERTY)).isNotNull();

    assertThat(new LogConfigurator().configure(new LoggerContext()))
        .isEqualTo(Configurator.ExecutionStatus.INVOKE_NEXT_IF_ANY);
  }

  @Test
  void jsonIsOneObjectALine() throws Exception {
    String line = line("json", new KeyValuePair("device", "hghca0"));

    assertThat(line).endsWith("}\n").hasLineCount(1);
    assertThat(JSON.std.mapFrom(line))
        .containsEntry("timestamp", Instant.parse("2026-11-29T08:00:00.123Z").toEpochMilli())
        .containsEntry("level", "WARN")
        .containsEntry("loggerName", "org.hghca.cm.ib.GsiQueue")
        .containsEntry("formattedMessage", "a \"send\" has failed")
        .containsEntry("kvpList", List.of(java.util.Map.of("device", "hghca0")));
  }
}
