package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.nio.file.Path;
import java.util.List;
import org.hghca.log.ConditionLog;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** What a server says of its clients. */
class ServerLogTest {
  private final Logger logger = (Logger) LoggerFactory.getLogger(UserServer.class);
  private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

  @TempDir Path directory;

  @BeforeEach
  void listen() {
    ConditionLog.reportAll(); // what other tests have logged is new again
    appender.start();
    logger.addAppender(appender);
    logger.setLevel(Level.INFO);
  }

  @AfterEach
  void stop() {
    logger.detachAppender(appender);
    logger.setLevel(null);
  }

  private List<String> lines() {
    return appender.list.stream()
        .map(event -> event.getLevel() + " " + event.getFormattedMessage())
        .toList();
  }

  @Test
  void clientsThatComeAndGoAreTwoLinesAndTheirNumbers() {
    try (Served served = new Served(directory)) {
      for (int i = 0; i < 20; i++) {
        RawClient.greeted(served.path).close();
        served.awaitNobody();
      }
      assertThat(served.server.clients()).isEqualTo(20);
    }
    assertThat(lines()).containsExactly("INFO a client came", "INFO a client is gone: it hung up");
    assertThat(appender.list)
        .allSatisfy(
            line ->
                assertThat(line.getKeyValuePairs())
                    .extracting(pair -> pair.key + "=" + pair.value)
                    .contains("device=" + directory.resolve("server")));

    ConditionLog.reportAll();
    assertThat(lines())
        .hasSize(4)
        .endsWith(
            "INFO a client came (19 more of these)",
            "INFO a client is gone: it hung up (19 more of these)");
  }
}
