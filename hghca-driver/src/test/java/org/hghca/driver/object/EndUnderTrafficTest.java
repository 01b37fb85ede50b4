package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.driver.object.MaintainedCard.MS;
import static org.hghca.driver.object.MaintainedCard.SECOND;
import static org.hghca.driver.object.MaintainedCard.TIME_OUT;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.ArrayList;
import java.util.List;
import org.hghca.driver.rtl.recovery.ErrorEntry;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/**
 * A queue pair with constant traffic goes to ERR nevertheless, on a card whose sends can stop. Its
 * own send found its peer not ready, so it never completes; the peer, ready since then, keeps
 * writing to it.
 */
class EndUnderTrafficTest {
  private static final long STEP = 10 * MS;

  /** 34 ms. */
  private static final int SHORT = 13;

  private static final long SHORT_TIME_OUT = 4096L << SHORT;

  private final MaintainedCard card = new MaintainedCard();
  private final HghcaQueuePair ending = card.queuePair();
  private final HghcaQueuePair peer = card.queuePair();
  private final HghcaQueuePair other = card.queuePair();
  private final HghcaQueuePair another = card.connectedTo(other.number());
  private final List<WcStatus> statuses = new ArrayList<>();
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private final Logger logger = (Logger) LoggerFactory.getLogger(ErrorEntry.class);

  @BeforeEach
  void connect() {
    ConditionLog.reportAll(); // what other tests have logged is new again
    log.start();
    logger.addAppender(log);
    logger.setLevel(Level.WARN);
    card.connect(other, another.number());
  }

  @AfterEach
  void close() {
    card.it.function.onCommand(() -> {});
    logger.detachAppender(log);
    logger.setLevel(null);
    card.close();
  }

  /** Gives a queue pair one send that never completes, and a peer. */
  private void connectPeer() {
    ending.postSend(card.write(8));
    card.connect(peer, ending.number());
  }

  /** Writes to the queue pair, and between two others. */
  private void write() {
    peer.postSend(card.write(8));
    other.postSend(card.write(8));
    statuses.addAll(card.poll());
  }

  private long ended() {
    return card.it.device.counts().endedUnderTraffic();
  }

  private void assertToldOnce(String milliseconds) {
    assertThat(ended()).isEqualTo(1);
    assertThat(log.list).hasSize(1);
    assertThat(log.list.getFirst().getFormattedMessage())
        .contains(ending.describe(), "goes to ERR while it sends", milliseconds);
    assertThat(List.of(other.state(), another.state()))
        .as("the others go on")
        .containsOnly(QpState.RTS);
    statuses.clear();
    other.postSend(card.write(8));
    assertThat(card.poll()).contains(WcStatus.SUCCESS);
  }

  @Test
  void errIsForcedAfterEightTimeOuts() {
    card.connect(ending, peer.number());
    connectPeer();
    long start = SECOND;
    long now = start;
    card.maintenance.look(now);
    int rounds = 0;
    while (now - start < 8 * TIME_OUT - 5 * STEP) {
      now += STEP;
      rounds++;
      write();
      card.maintenance.look(now);
    }
    assertThat(ending.state()).isEqualTo(QpState.RTS);
    assertThat(ended()).isZero();
    assertThat(statuses).hasSize(2 * rounds).containsOnly(WcStatus.SUCCESS);
    for (int i = 0; i < 10 && ending.state() == QpState.RTS; i++) {
      now += STEP;
      write();
      card.maintenance.look(now);
    }
    assertThat(ending.state()).isEqualTo(QpState.ERR);
    assertThat(now - start).isLessThan(8 * TIME_OUT + STEP);
    assertThat(card.poll()).containsExactly(WcStatus.RETRY_EXC_ERR);
    assertToldOnce("it was not quiet for 4300 ms");
  }

  @Test
  void modifyIssuesTheCommandAfterEightTimeOuts() {
    card.connect(ending, peer.number(), SHORT);
    connectPeer();
    card.it.function.onCommand(this::write);
    long start = System.nanoTime();
    ending.modify(QpAttributes.to(QpState.ERR));
    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(8 * SHORT_TIME_OUT);
    card.it.function.onCommand(() -> {});
    assertThat(statuses).contains(WcStatus.SUCCESS);
    assertToldOnce("it was not quiet for ");
  }

  /** Without a time-out, which counts as half a second, and with 8 us, too short to count. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void idleQueuePairIsFoundQuietAndNothingIsLogged(int timeout) {
    card.connect(ending, peer.number(), timeout);
    connectPeer();
    long start = System.nanoTime();
    ending.modify(QpAttributes.to(QpState.ERR));
    assertThat(System.nanoTime() - start).isLessThan(3 * SECOND);
    assertThat(ended()).isZero();
    assertThat(log.list).isEmpty();
  }
}
