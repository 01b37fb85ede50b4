package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.OutputStreamAppender;
import com.fasterxml.jackson.jr.ob.JSON;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.event.KeyValuePair;

/** The lines of the log of the command line. */
class LogFormatTest {
  private static String line(String format, KeyValuePair... pairs) throws Exception {
    LoggerContext context = new LoggerContext();
    context.putProperty("hghca.log.format", format);
    JoranConfigurator configurator = new JoranConfigurator();
    configurator.setContext(context);
    configurator.doConfigure(Main.class.getResource("/logback.xml"));
    Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    var appender = (OutputStreamAppender<ILoggingEvent>) root.getAppender(format);
    Logger logger = context.getLogger("org.hghca.cm.ib.GsiQueue");
    LoggingEvent event =
        new LoggingEvent(
            "", logger, Level.WARN, "{} has failed", null, new Object[] {"a \"send\""});
    event.setInstant(Instant.parse("2026-11-29T08:00:00.123Z"));
    event.setKeyValuePairs(pairs.length == 0 ? null : List.of(pairs));
    return new String(appender.getEncoder().encode(event), StandardCharsets.UTF_8);
  }

  @Test
  void textHasTimeLevelDeviceQueuePairAndPeer() throws Exception {
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
