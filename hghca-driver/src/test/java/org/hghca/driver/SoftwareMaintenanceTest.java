package org.hghca.driver;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.ArrayList;
import java.util.List;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What looking after a card of the first RTL finds, in a time of the test's own. */
class SoftwareMaintenanceTest {
  private static final long MS = 1_000_000;
  private static final long SECOND = 1000 * MS;
  private static final int QUERY_QP = 0x22;

  /** That of {@link ConnectionOptions#DEFAULT}: code 14, and 7 retries. */
  private static final long TIME_OUT = 8 * 4096L << 14;

  /** A queue pair that does not exist: nobody answers. */
  private static final int NOBODY = 900;

  private final DriverFixture it = new DriverFixture("&profile=r1");
  private final SoftwareMaintenance maintenance = it.device.maintenance();
  private final MemoryRegion memory =
      it.pd.allocate(8192, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
  private final List<HghcaQueuePair> others = new ArrayList<>();
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private final Logger logger = (Logger) LoggerFactory.getLogger(SoftwareMaintenance.class);

  SoftwareMaintenanceTest() {
    maintenance.stop(); // the test looks itself
    log.start();
    logger.addAppender(log);
    logger.setLevel(Level.WARN);
  }

  @AfterEach
  void close() {
    logger.detachAppender(log);
    logger.setLevel(null);
    others.forEach(HghcaQueuePair::close);
    memory.close();
    it.close();
  }

  private HghcaQueuePair queuePair(QpType type) {
    HghcaQueuePair qp =
        (HghcaQueuePair)
            it.pd.createQueuePair(
                (type == QpType.RC
                        ? QueuePairConfig.rc(it.cq, it.cq)
                        : QueuePairConfig.uc(it.cq, it.cq))
                    .sendDepth(4)
                    .receiveDepth(4)
                    .signalAll());
    others.add(qp);
    return qp;
  }

  private void connect(HghcaQueuePair qp, int peer) {
    ConnectionOptions options = ConnectionOptions.DEFAULT;
    qp.modify(options.toInit(QpType.RC));
    qp.modify(options.toRtr(QpType.RC, new QpEndpoint(0, peer, 7, it.context.queryGid(1, 0))));
    qp.modify(options.toRts(QpType.RC, 7));
  }

  private HghcaQueuePair connectedTo(int peer) {
    HghcaQueuePair qp = queuePair(QpType.RC);
    connect(qp, peer);
    return qp;
  }

  private ReceiveRequest receive(int bytes) {
    return new ReceiveRequest().wrId(5).into(memory, 0, bytes);
  }

  private SendRequest send(int bytes) {
    return new SendRequest().send().sge(memory, 4096, bytes);
  }

  private List<WcStatus> poll() {
    Completions found = new Completions(16);
    List<WcStatus> statuses = new ArrayList<>();
    for (int n = it.cq.poll(found); n > 0; n = it.cq.poll(found)) { // a poll lets others go on
      for (int i = 0; i < n; i++) {
        statuses.add(found.status(i));
      }
    }
    return statuses;
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
  void waiterOnAQueuePairInErrorIsTold() {
    HghcaQueuePair left = queuePair(QpType.RC);
    HghcaQueuePair right = connectedTo(left.number());
    connect(left, right.number());
    right.tryPostReceive(receive(64));
    right.tryPostReceive(receive(64));
    maintenance.look(0);
    left.tryPostSend(send(1000)); // longer than what waits for it
    maintenance.look(SECOND / 2);
    assertThat(right.state()).isEqualTo(QpState.RTS);
    maintenance.look(2 * SECOND);
    assertThat(right.state()).isEqualTo(QpState.ERR);
    assertThat(events()).containsExactly(AsyncEventType.QP_FATAL);
    assertThat(poll()).contains(WcStatus.WR_FLUSH_ERR, WcStatus.WR_FLUSH_ERR);
    maintenance.look(9 * SECOND);
    assertThat(events()).as("it is told once").isEmpty();
  }

  @Test
  void aQueuePairThatIsReadyToReceiveOnlyIsLookedAtToo() {
    HghcaQueuePair left = queuePair(QpType.RC);
    HghcaQueuePair right = queuePair(QpType.RC);
    ConnectionOptions options = ConnectionOptions.DEFAULT;
    right.modify(options.toInit(QpType.RC));
    right.modify(
        options.toRtr(QpType.RC, new QpEndpoint(0, left.number(), 7, it.context.queryGid(1, 0))));
    connect(left, right.number());
    right.tryPostReceive(receive(64));
    assertThat(maintenance.look(0)).isNotEqualTo(SoftwareMaintenance.Need.NONE);
    left.tryPostSend(send(1000));
    maintenance.look(2 * SECOND);
    assertThat(right.state()).isEqualTo(QpState.ERR);
  }

  @Test
  void theCardIsAskedOnceASecondAndOnlyOfWhatWaits() {
    HghcaQueuePair left = queuePair(QpType.RC);
    HghcaQueuePair right = connectedTo(left.number());
    connect(left, right.number());
    right.tryPostReceive(receive(64));
    int[] queries = {0};
    it.function.onCommand(() -> queries[0] += it.function.opcode() == QUERY_QP ? 1 : 0);
    for (long now = 0; now <= 60 * SECOND; now += 10 * MS) {
      maintenance.look(now);
    }
    assertThat(queries[0]).isBetween(30, 60);
    right.tryPostReceive(receive(64));
    left.tryPostSend(send(64));
    poll();
    queries[0] = 0;
    maintenance.look(70 * SECOND);
    assertThat(queries[0]).as("a message has come").isZero();
    it.device.health().fail("it burns");
    maintenance.look(90 * SECOND);
    assertThat(queries[0]).as("the card is dead").isZero();
  }

  @Test
  void oneTimeOutIsToldAsOne() {
    HghcaQueuePair qp = connectedTo(NOBODY);
    qp.tryPostSend(send(64));
    lookOften();
    assertThat(poll()).containsExactly(WcStatus.RETRY_EXC_ERR);
    assertThat(log.list).hasSize(1);
    assertThat(log.list.getFirst().getFormattedMessage())
        .contains(qp.describe(), "time-out")
        .doesNotContain("reset");
  }

  @Test
  void waitIsExtendedWhileOlderDoorbellsCompleteAndEnds() {
    HghcaQueuePair qp = connectedTo(NOBODY);
    maintenance.look(0);
    qp.tryPostSend(send(64));
    long now = 0;
    while (now < 8 * TIME_OUT - SECOND) {
      now += SECOND / 10;
      maintenance.moved(0); // an older doorbell than any here
      maintenance.look(now);
    }
    assertThat(poll()).isEmpty();
    assertThat(qp.state()).isEqualTo(QpState.RTS);
    for (int i = 0; i < 15; i++) {
      now += SECOND / 10;
      maintenance.moved(0);
      maintenance.look(now);
    }
    assertThat(poll()).containsExactly(WcStatus.RETRY_EXC_ERR);
  }

  @Test
  void aDeadPeerBesideASaturatedOneIsGivenUp() {
    HghcaQueuePair left = queuePair(QpType.RC);
    HghcaQueuePair right = connectedTo(left.number());
    connect(left, right.number());
    HghcaQueuePair dead = connectedTo(NOBODY);
    SendRequest write =
        new SendRequest().rdmaWrite(memory.address(), memory.rkey()).sge(memory, 4096, 8);
    List<WcStatus> statuses = new ArrayList<>();
    left.tryPostSend(write);
    maintenance.look(0);
    dead.tryPostSend(send(64));
    long now = 0;
    while (!statuses.contains(WcStatus.RETRY_EXC_ERR) && now < 10 * TIME_OUT) {
      now += 10 * MS;
      for (int i = 0; i < 4; i++) {
        left.tryPostSend(write);
      }
      statuses.addAll(poll());
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
    for (int i = 0; i < 5; i++) {
      connectedTo(NOBODY + i).tryPostSend(send(64));
    }
    lookOften();
    assertThat(poll()).hasSize(5).containsOnly(WcStatus.RETRY_EXC_ERR);
    assertThat(log.list).hasSize(1);
    assertThat(log.list.getFirst().getFormattedMessage())
        .contains("data path may be dead", "reset", others.get(0).describe())
        .contains(others.get(4).describe());
  }

  @Test
  void whenOthersGoOnTheCardIsNotCalledDead() {
    HghcaQueuePair left = queuePair(QpType.RC);
    HghcaQueuePair right = connectedTo(left.number());
    connect(left, right.number());
    connectedTo(NOBODY).tryPostSend(send(64));
    connectedTo(NOBODY + 1).tryPostSend(send(64));
    for (int i = 0; i < 6; i++) {
      left.tryPostSend(
          new SendRequest().rdmaWrite(memory.address(), memory.rkey()).sge(memory, 4096, 8));
      poll();
      maintenance.look(i * SECOND);
    }
    assertThat(log.list).hasSize(1);
    assertThat(log.list.getFirst().getFormattedMessage())
        .contains("time-out")
        .doesNotContain("reset");
  }

  @Test
  void packetThatComesDuringRtr2RtsIsNotRefused() {
    HghcaQueuePair left = queuePair(QpType.RC);
    HghcaQueuePair right = queuePair(QpType.RC);
    connect(left, right.number());
    int[] posted = {0};
    it.function.onCommand(
        () -> posted[0] += right.state() == QpState.RTR && left.tryPostSend(send(64)) ? 1 : 0);
    right.connect(
        own -> {
          for (int i = 0; i < 4; i++) {
            right.tryPostReceive(receive(64));
          }
          return new QpEndpoint(0, left.number(), 7, it.context.queryGid(1, 0));
        });
    it.function.onCommand(() -> {});
    assertThat(posted[0]).as("messages that came at each command to RTS").isBetween(1, 3);
    left.tryPostSend(send(64));
    assertThat(poll()).hasSize(2 * posted[0] + 2).containsOnly(WcStatus.SUCCESS);
    assertThat(right.state()).isEqualTo(QpState.RTS);
  }

  @Test
  void anotherPsnThanAnnouncedIsGivenToTheCardAllTheSame() {
    HghcaQueuePair left = queuePair(QpType.RC);
    HghcaQueuePair right = queuePair(QpType.RC);
    connect(left, right.number()); // expects 7, where no PSN was announced
    connect(right, left.number());
    left.tryPostReceive(receive(64));
    right.tryPostSend(send(64));
    assertThat(poll()).containsExactly(WcStatus.SUCCESS, WcStatus.SUCCESS);
    assertThat(right.query().mask()).isNotEmpty();
    right.modify(QpAttributes.to(QpState.ERR));
  }
}
