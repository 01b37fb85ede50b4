package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.driver.object.MaintainedCard.MS;
import static org.hghca.driver.object.MaintainedCard.NOBODY;
import static org.hghca.driver.object.MaintainedCard.SECOND;
import static org.hghca.driver.object.MaintainedCard.TIME_OUT;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.ArrayList;
import java.util.List;
import org.hghca.driver.rtl.recovery.SoftwareMaintenance;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Findings of the supervision of a card of the first RTL, in the test's own time. */
class SoftwareMaintenanceTest {
  private static final int QUERY_QP = 0x22;

  private final MaintainedCard card = new MaintainedCard();
  private final DriverFixture it = card.it;
  private final SoftwareMaintenance maintenance = card.maintenance;
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private final Logger logger = (Logger) LoggerFactory.getLogger(SoftwareMaintenance.class);

  SoftwareMaintenanceTest() {
    ConditionLog.reportAll(); // what other tests have logged is new again
    log.start();
    logger.addAppender(log);
    logger.setLevel(Level.WARN);
  }

  @AfterEach
  void close() {
    logger.detachAppender(log);
    logger.setLevel(null);
    card.close();
  }

  private List<AsyncEventType> events() {
    List<AsyncEventType> types = new ArrayList<>();
    for (var event = it.context.asyncEvents().poll();
        event.isPresent();
        event = it.context.asyncEvents().poll()) {
      types.add(event.get().type());
      event.ifPresent(AsyncEvent::acknowledge);
    }
    return types;
  }

  @Test
  @Tag("hazard-12.4")
  void waiterOnAQueuePairInErrIsNotified() {
    HghcaQueuePair left = card.queuePair();
    HghcaQueuePair right = card.connectedTo(left.number());
    card.connect(left, right.number());
    right.tryPostReceive(card.receive(64));
    right.tryPostReceive(card.receive(64));
    maintenance.look(0);
    left.tryPostSend(card.send(1000)); // longer than the waiter waits
    maintenance.look(SECOND / 2);
    assertThat(right.state()).isEqualTo(QpState.RTS);
    maintenance.look(2 * SECOND);
    assertThat(right.state()).isEqualTo(QpState.ERR);
    assertThat(events()).containsExactly(AsyncEventType.QP_FATAL);
    assertThat(card.poll()).contains(WcStatus.WR_FLUSH_ERR, WcStatus.WR_FLUSH_ERR);
    maintenance.look(9 * SECOND);
    assertThat(events()).as("it is told once").isEmpty();
  }

  @Test
  void queuePairInRtrIsCheckedToo() {
    HghcaQueuePair left = card.queuePair();
    HghcaQueuePair right = card.queuePair();
    ConnectionOptions options = ConnectionOptions.DEFAULT;
    right.modify(options.toInit(QpType.RC));
    right.modify(options.toRtr(QpType.RC, card.endpoint(left.number())));
    card.connect(left, right.number());
    right.tryPostReceive(card.receive(64));
    assertThat(maintenance.look(0)).isNotEqualTo(SoftwareMaintenance.Need.NONE);
    left.tryPostSend(card.send(1000));
    maintenance.look(2 * SECOND);
    assertThat(right.state()).isEqualTo(QpState.ERR);
  }

  @Test
  void cardIsQueriedOnceASecondAndOnlyForWaiters() {
    HghcaQueuePair left = card.queuePair();
    HghcaQueuePair right = card.connectedTo(left.number());
    card.connect(left, right.number());
    right.tryPostReceive(card.receive(64));
    int[] queries = {0};
    it.function.onCommand(() -> queries[0] += it.function.opcode() == QUERY_QP ? 1 : 0);
    for (long now = 0; now <= 60 * SECOND; now += 10 * MS) {
      maintenance.look(now);
    }
    assertThat(queries[0]).isBetween(30, 60);
    right.tryPostReceive(card.receive(64));
    left.tryPostSend(card.send(64));
    card.poll();
    queries[0] = 0;
    maintenance.look(70 * SECOND);
    assertThat(queries[0]).as("a message has come").isZero();
    it.device.card().health().fail("it burns");
    maintenance.look(90 * SECOND);
    assertThat(queries[0]).as("the card is dead").isZero();
  }

  @Test
  void oneTimeOutIsReportedAsOne() {
    HghcaQueuePair qp = card.connectedTo(NOBODY);
    qp.tryPostSend(card.send(64));
    lookOften();
    assertThat(card.poll()).containsExactly(WcStatus.RETRY_EXC_ERR);
    assertThat(log.list).hasSize(1);
    assertThat(log.list.getFirst().getFormattedMessage())
        .contains(qp.describe(), "time-out")
        .doesNotContain("reset");
  }

  @Test
  void waitIsExtendedWhileOlderDoorbellsCompleteAndEnds() {
    HghcaQueuePair qp = card.connectedTo(NOBODY);
    maintenance.look(0);
    qp.tryPostSend(card.send(64));
    long now = 0;
    while (now < 8 * TIME_OUT - SECOND) {
      now += SECOND / 10;
      maintenance.moved(0); // an older doorbell than any here
      maintenance.look(now);
    }
    assertThat(card.poll()).isEmpty();
    assertThat(qp.state()).isEqualTo(QpState.RTS);
    for (int i = 0; i < 15; i++) {
      now += SECOND / 10;
      maintenance.moved(0);
      maintenance.look(now);
    }
    assertThat(card.poll()).containsExactly(WcStatus.RETRY_EXC_ERR);
  }

  @Test
  void silentPeerBesideASaturatedOneTimesOut() {
    HghcaQueuePair left = card.queuePair();
    HghcaQueuePair right = card.connectedTo(left.number());
    card.connect(left, right.number());
    HghcaQueuePair dead = card.connectedTo(NOBODY);
    SendRequest write = card.write(8);
    List<WcStatus> statuses = new ArrayList<>();
    left.tryPostSend(write);
    maintenance.look(0);
    dead.tryPostSend(card.send(64));
    long now = 0;
    while (!statuses.contains(WcStatus.RETRY_EXC_ERR) && now < 10 * TIME_OUT) {
      now += 10 * MS;
      for (int i = 0; i < 4; i++) {
        left.tryPostSend(write);
      }
      statuses.addAll(card.poll());
      maintenance.look(now);
    }
    assertThat(statuses).contains(WcStatus.SUCCESS, WcStatus.RETRY_EXC_ERR);
    assertThat(now).isBetween(TIME_OUT, 8 * TIME_OUT);
    assertThat(left.state()).isEqualTo(QpState.RTS);
    assertThat(dead.state()).isEqualTo(QpState.ERR);
  }

  private void lookOften() {
    for (int i = 0; i < 6; i++) {
      maintenance.look(i * SECOND);
    }
  }

  @Test
  void severalTimeOutsAreReportedOnceAsADeadDataPath() {
    List<HghcaQueuePair> queuePairs = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      queuePairs.add(card.connectedTo(NOBODY + i));
      queuePairs.getLast().tryPostSend(card.send(64));
    }
    lookOften();
    assertThat(card.poll()).hasSize(5).containsOnly(WcStatus.RETRY_EXC_ERR);
    assertThat(log.list).hasSize(1);
    assertThat(log.list.getFirst().getFormattedMessage())
        .contains("data path may be dead", "reset", queuePairs.get(0).describe())
        .contains(queuePairs.get(4).describe());
  }

  @Test
  void timeOutsWithOtherProgressAreNotADeadDataPath() {
    HghcaQueuePair left = card.queuePair();
    HghcaQueuePair right = card.connectedTo(left.number());
    card.connect(left, right.number());
    card.connectedTo(NOBODY).tryPostSend(card.send(64));
    card.connectedTo(NOBODY + 1).tryPostSend(card.send(64));
    for (int i = 0; i < 6; i++) {
      left.tryPostSend(card.write(8));
      card.poll();
      maintenance.look(i * SECOND);
    }
    assertThat(log.list).hasSize(1);
    assertThat(log.list.getFirst().getFormattedMessage())
        .contains("time-out")
        .doesNotContain("reset");
  }

  @Test
  void packetThatArrivesDuringRtr2RtsIsNotRefused() {
    HghcaQueuePair left = card.queuePair();
    HghcaQueuePair right = card.queuePair();
    card.connect(left, right.number());
    int[] posted = {0};
    it.function.onCommand(
        () -> posted[0] += right.state() == QpState.RTR && left.tryPostSend(card.send(64)) ? 1 : 0);
    right.connect(
        own -> {
          for (int i = 0; i < 4; i++) {
            right.tryPostReceive(card.receive(64));
          }
          return card.endpoint(left.number());
        });
    it.function.onCommand(() -> {});
    assertThat(posted[0]).as("messages that came at each command to RTS").isBetween(1, 3);
    left.tryPostSend(card.send(64));
    assertThat(card.poll()).hasSize(2 * posted[0] + 2).containsOnly(WcStatus.SUCCESS);
    assertThat(right.state()).isEqualTo(QpState.RTS);
  }

  @Test
  void otherPsnThanAnnouncedIsGivenToTheCardNevertheless() {
    HghcaQueuePair left = card.queuePair();
    HghcaQueuePair right = card.queuePair();
    card.connect(left, right.number()); // expects 7, where no PSN was announced
    card.connect(right, left.number());
    left.tryPostReceive(card.receive(64));
    right.tryPostSend(card.send(64));
    assertThat(card.poll()).containsExactly(WcStatus.SUCCESS, WcStatus.SUCCESS);
    assertThat(right.query().mask()).isNotEmpty();
    right.modify(QpAttributes.to(QpState.ERR));
  }
}
