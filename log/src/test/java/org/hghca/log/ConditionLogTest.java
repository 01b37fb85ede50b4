package org.hghca.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.ArrayDeque;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A condition can occur any number of times, but has few lines in the log. */
class ConditionLogTest {
  private final Logger logger = (Logger) LoggerFactory.getLogger(ConditionLogTest.class);
  private final ListAppender<ILoggingEvent> appender = new ListAppender<>();
  private final ArrayDeque<Runnable> later = new ArrayDeque<>();
  private long now = Long.MAX_VALUE - 5;
  private final ConditionLog log =
      new ConditionLog(logger, new Conditions(() -> now, (task, _) -> later.add(task)));

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

  private void endInterval() {
    now += Conditions.INTERVAL;
    for (int i = later.size(); i > 0; i--) {
      later.remove().run();
    }
  }

  @Test
  void repetitionsAreCountedInOneLineAMinute() {
    for (int i = 0; i < 100; i++) {
      log.warn(About.device("hghca0"), "event {}", i);
    }
    assertThat(lines(Level.WARN)).containsExactly("event 0");
    assertThat(lines(Level.DEBUG)).hasSize(99);

    endInterval();
    log.warn(About.device("hghca0"), "event {}", 100);
    log.warn(About.device("hghca0"), "event {}", 101);
    endInterval();
    endInterval();
    log.warn(About.device("hghca0"), "event {}", 102);
    assertThat(lines(Level.WARN))
        .containsExactly(
            "event 0", "event 99 (99 more of these)", "event 101 (2 more of these)", "event 102");
    assertThat(later).isEmpty();
  }

  @Test
  void anotherMessageLevelOrDeviceIsAnotherCondition() {
    log.warn(About.device("hghca0"), "it stopped");
    log.warn(About.device("hghca1"), "it stopped");
    log.error(About.device("hghca0"), "it stopped");
    log.warn(About.device("hghca0"), "it started");

    assertThat(lines(Level.WARN)).containsExactly("it stopped", "it stopped", "it started");
    assertThat(lines(Level.ERROR)).containsExactly("it stopped");
  }

  /** Otherwise one peer that always comes from another port would fill the log. */
  @Test
  void anotherPeerOrQueuePairIsTheSameCondition() {
    log.warn(About.peer("10.0.0.1:1000"), "refused");
    log.warn(About.peer("10.0.0.1:1001").qpn(2), "refused");

    assertThat(lines(Level.WARN)).containsExactly("refused");
  }

  @Test
  void countsAreReportedAtTheEnd() {
    Conditions conditions = new Conditions(() -> now, (task, _) -> later.add(task));
    ConditionLog ended = new ConditionLog(logger, conditions);
    ended.warn(About.NOTHING, "again");
    ended.warn(About.NOTHING, "again");
    ended.warn(About.NOTHING, "once");
    conditions.reportAll();
    ended.warn(About.NOTHING, "once");

    assertThat(lines(Level.WARN))
        .containsExactly("again", "once", "again (1 more of these)", "once");
    endInterval();
    assertThat(lines(Level.WARN)).hasSize(4);
  }

  @Test
  void linesHaveWhatTheyAreAboutAsPairs() {
    log.info(About.device("hghca0").qpn(0x12).with("10.0.0.1"), "connected");
    log.debug(About.peer("10.0.0.1"), "gone");
    log.info(About.NOTHING, "idle");

    assertThat(appender.list.get(0).getKeyValuePairs())
        .extracting(pair -> pair.key + "=" + pair.value)
        .containsExactly("device=hghca0", "qpn=0x000012", "peer=10.0.0.1");
    assertThat(appender.list.get(1).getKeyValuePairs())
        .extracting(pair -> pair.key + "=" + pair.value)
        .containsExactly("peer=10.0.0.1");
    assertThat(appender.list.get(2).getKeyValuePairs()).isNull();
  }

  @Test
  void failureIsWithTheLineAndWithTheCount() {
    log.error(About.NOTHING, "{} failed", "it", new IllegalStateException("the reason"));
    log.error(About.NOTHING, "{} failed", "it", new IllegalStateException("another"));
    endInterval();

    assertThat(appender.list.getFirst().getFormattedMessage()).isEqualTo("it failed");
    assertThat(appender.list.getFirst().getThrowableProxy().getMessage()).isEqualTo("the reason");
    assertThat(appender.list.getLast().getThrowableProxy().getMessage()).isEqualTo("another");
  }

  @Test
  void memoryIsBounded() {
    for (int i = 0; i < 2 * Conditions.MOST; i++) {
      log.warn(About.device("hghca" + i), "it stopped");
    }
    log.warn(About.device("hghca0"), "it stopped");

    assertThat(lines(Level.WARN)).hasSize(2 * Conditions.MOST + 1);
  }

  @Test
  void levelThatIsOffCostsNoMemory() {
    logger.setLevel(Level.ERROR);
    log.warn(About.NOTHING, "again");
    log.warn(About.NOTHING, "again");
    logger.setLevel(Level.DEBUG);
    log.warn(About.NOTHING, "again");

    assertThat(lines(Level.WARN)).containsExactly("again");
    assertThat(later).isEmpty();
  }

  /** A connection breaks before its peer is known. */
  @Test
  void whatIsNotKnownIsLeftOut() {
    log.warn(About.peer(null), "a line");
    log.warn(About.device(null).with(null), "another line");

    assertThat(appender.list).hasSize(2).allMatch(event -> event.getKeyValuePairs() == null);
  }
}
