package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Clients can cause any number of events, but not of lines in the log. */
final class LimitedLogTest {
  private final Logger logger = (Logger) LoggerFactory.getLogger(UserServer.class);
  private final ListAppender<ILoggingEvent> appender = new ListAppender<>();
  private long now = Long.MAX_VALUE - 5;

  @BeforeEach
  void listen() {
    appender.start();
    logger.addAppender(appender);
    logger.setLevel(Level.DEBUG);
  }

  @AfterEach
  void stop() {
    logger.detachAppender(appender);
    logger.setLevel(null);
  }

  private List<String> lines(Level level) {
    return appender.list.stream()
        .filter(event -> event.getLevel().equals(level))
        .map(ILoggingEvent::getFormattedMessage)
        .toList();
  }

  @Test
  void oneLineAMinuteHasTheLevel() {
    LimitedLog log = new LimitedLog(logger, org.slf4j.event.Level.WARN, () -> now);
    for (int i = 0; i < 4; i++) {
      log.log("event {}", i);
      now += LimitedLog.INTERVAL / 3;
    }
    now += LimitedLog.INTERVAL;
    log.log("event {}", 4, new IllegalStateException("the reason"));
    assertThat(lines(Level.WARN))
        .containsExactly("event 0", "event 3 (2 more since the last such line)", "event 4");
    assertThat(lines(Level.DEBUG)).containsExactly("event 1", "event 2");
    assertThat(appender.list.getLast().getThrowableProxy().getMessage()).isEqualTo("the reason");
  }

  @Test
  void clientsThatComeAndGoAreTwoLines(@TempDir Path directory) {
    try (Served served = new Served(directory)) {
      for (int i = 0; i < 20; i++) {
        if (i % 2 == 0) {
          RawClient.greeted(served.path).close();
        } else {
          RawClient.connect(served.path).close();
        }
      }
      Served.await(() -> served.server.clients() == 20);
      served.awaitNobody();
    }
    String path = directory.resolve("server").toString();
    assertThat(lines(Level.INFO))
        .containsExactly(path + ": a client came", path + ": the client is gone: it hung up");
    assertThat(lines(Level.DEBUG)).filteredOn(line -> line.endsWith("a client came")).hasSize(19);
    assertThat(lines(Level.WARN)).isEmpty();
  }
}
