package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.hghca.verbs.AccessFlag;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** After which uses the number of a queue pair of the first RTL can be reused. */
@Tag("hazard-6.6")
class NumberRetirementTest {
  private final DriverFixture it = new DriverFixture("&profile=r1");
  private final MemoryRegion memory =
      it.pd.allocate(8192, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
  private final List<HghcaQueuePair> others = new ArrayList<>();

  @AfterEach
  void close() {
    others.forEach(HghcaQueuePair::close);
    memory.close();
    it.close();
  }

  private HghcaQueuePair queuePair(QpType type) {
    QueuePairConfig config =
        switch (type) {
          case RC -> QueuePairConfig.rc(it.cq, it.cq);
          case UC -> QueuePairConfig.uc(it.cq, it.cq);
          case UD -> QueuePairConfig.ud(it.cq, it.cq);
        };
    return (HghcaQueuePair)
        it.pd.createQueuePair(config.sendDepth(2).receiveDepth(2).maxInline(0).signalAll());
  }

  private void connect(HghcaQueuePair qp, QpType type, int peer) {
    ConnectionOptions options = ConnectionOptions.DEFAULT;
    qp.modify(options.toInit(type));
    qp.modify(options.toRtr(type, new QpEndpoint(0, peer, 0, it.context.queryGid(1, 0))));
    qp.modify(options.toRts(type, 0));
  }

  /** The number of QPNs lost after a use of the queue pair in which its peer has sent something. */
  private int retiredAfter(SendRequest request, int receives) {
    HghcaQueuePair peer = queuePair(QpType.RC);
    HghcaQueuePair qp = queuePair(QpType.RC);
    others.add(peer);
    connect(qp, QpType.RC, peer.number());
    connect(peer, QpType.RC, qp.number());
    for (int i = 0; i < receives; i++) {
      qp.tryPostReceive(new ReceiveRequest().into(memory, 0, 1024));
    }
    peer.tryPostSend(request);
    Completions found = new Completions(8);
    int count = it.cq.poll(found);
    assertThat(count).isPositive();
    for (int i = 0; i < count; i++) {
      assertThat(found.isSuccess(i)).isTrue();
    }
    qp.close();
    return it.device.qpNumbers().retired();
  }

  private SendRequest write() {
    return new SendRequest().rdmaWrite(memory.address(), memory.rkey()).sge(memory, 4096, 64);
  }

  private SendRequest read() {
    return new SendRequest().rdmaRead(memory.address(), memory.rkey()).sge(memory, 4096, 64);
  }

  private SendRequest send() {
    return new SendRequest().send().sge(memory, 4096, 64);
  }

  @Test
  void messagesShowTheCardsPositionSoThatReceivesMayRemain() {
    assertThat(retiredAfter(send(), 2)).isZero();
  }

  /** The received packets might be those of an incomplete message. */
  @Test
  void packetsWithoutACompletionRetireTheNumberIfReceivesRemain() {
    assertThat(retiredAfter(write(), 1)).isEqualTo(1);
    assertThat(retiredAfter(read(), 1)).isEqualTo(2);
  }

  @Test
  void withoutRemainingReceivesNoneCanBePartlyFilled() {
    assertThat(retiredAfter(write(), 0)).isZero();
    assertThat(retiredAfter(read(), 0)).isZero();
  }

  /** The low byte of 60h could be the state ERR. */
  @ParameterizedTest
  @EnumSource
  void numberThatLooksLikeAStateIsNotUsed(Life life) {
    HghcaQueuePair qp = queuePair(QpType.RC);
    while (qp.number() < life.value) {
      others.add(qp);
      qp = queuePair(QpType.RC);
    }
    connect(qp, QpType.RC, others.getFirst().number());
    qp.close();
    assertThat(it.device.qpNumbers().retired()).isEqualTo(life.retired);
  }

  /** For INIT the card gets ERR, which is not an error that it has detected. */
  @Test
  void errorBeforeAnyReceiveIsPossibleIsIgnored() {
    HghcaQueuePair peer = queuePair(QpType.RC);
    others.add(peer);
    HghcaQueuePair qp = queuePair(QpType.RC);
    qp.modify(ConnectionOptions.DEFAULT.toInit(QpType.RC));
    qp.modify(QpAttributes.to(QpState.ERR));
    qp.modify(QpAttributes.to(QpState.RESET));
    connect(qp, QpType.RC, peer.number());
    qp.modify(QpAttributes.to(QpState.RESET));
    qp.close();
    assertThat(it.device.qpNumbers().retired()).isZero();
  }

  /** A number, and how many are lost after a use without any send or receive. */
  enum Life {
    PLAIN(0x5f, 0),
    LIKE_ERR(0x60, 1);

    final int value;
    final int retired;

    Life(int value, int retired) {
      this.value = value;
      this.retired = retired;
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"UC", "UD"})
  @Tag("hazard-12.5")
  void numbersOfUnreliableQueuePairsThatCouldReceiveAreRetired(QpType type) {
    HghcaQueuePair qp = queuePair(type);
    connect(qp, type, qp.number());
    qp.close();
    assertThat(it.device.qpNumbers().retired()).isEqualTo(1);
    for (int i = 0; i < 20; i++) {
      HghcaQueuePair next = queuePair(type);
      assertThat(next.number()).isNotEqualTo(qp.number());
      next.close();
    }
    assertThat(it.device.qpNumbers().retired()).as("those never lived").isEqualTo(1);
  }
}
