package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.driver.Failures.assertErrno;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.BthOpcode;
import org.hghca.abi.Cqe;
import org.hghca.driver.event.WatchedQueue;
import org.hghca.driver.rtl.recovery.StateFlowBySoftware;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The start position of a number's next owner on the first RTL, which continues at its last ring
 * positions: an error of one slot loses all messages.
 */
class NumberReuseTest {
  private static final int RING = 8;
  private static final int MESSAGE = 64;

  private final DriverFixture it = new DriverFixture("&profile=r1");
  private final HghcaCompletionQueue cq = queue();
  private final MemorySegment ring = cq.memory().segment();
  private final HghcaQueuePair qp = queuePair(cq);
  private final MemoryRegion memory = it.pd.allocate(4096, AccessFlag.LOCAL_WRITE);
  private final Completions completions = new Completions(RING);

  private HghcaCompletionQueue queue() {
    return (HghcaCompletionQueue)
        it.context.createCompletionQueue(CompletionQueueConfig.of(RING).withRingEntries(RING));
  }

  private HghcaQueuePair queuePair(HghcaCompletionQueue receives) {
    return (HghcaQueuePair)
        it.pd.createQueuePair(
            QueuePairConfig.rc(it.cq, receives).sendDepth(4).receiveDepth(4).maxInline(0));
  }

  @BeforeEach
  void connect() {
    it.connect(qp);
  }

  @AfterEach
  void close() {
    qp.close();
    cq.close();
    memory.close();
    it.close();
  }

  private void receive(int count) {
    for (int i = 0; i < count; i++) {
      qp.postReceive(new ReceiveRequest().wrId(i).into(memory, 0, MESSAGE));
    }
  }

  private void send(int count) {
    for (int i = 0; i < count; i++) {
      qp.postSend(new SendRequest().send().sge(memory, 0, MESSAGE).signaled());
      await(it.cq);
    }
  }

  private void await(HghcaCompletionQueue queue) {
    long start = System.nanoTime();
    while (queue.poll(completions, 1) == 0) {
      assertThat(System.nanoTime() - start).as("nanoseconds").isLessThan(20_000_000_000L);
      Thread.yield();
    }
    assertThat(completions.isSuccess(0)).as(completions.describe(0)).isTrue();
  }

  /** Messages arrive, so that both sides continue at the same slot. */
  private void exchange(int count) {
    receive(count);
    send(count);
    for (int i = 0; i < count; i++) {
      await(cq);
    }
  }

  private int next() {
    return it.device.qpNumbers().position(qp.number()).orElseThrow().next();
  }

  @Test
  void queuePairClosedEarlyKeepsThePosition() {
    exchange(3);
    qp.modify(QpAttributes.to(QpState.RESET));
    qp.modify(ConnectionOptions.DEFAULT.toInit(QpType.RC));
    qp.modify(QpAttributes.to(QpState.RESET));
    it.connect(qp);
    exchange(2);
  }

  @Test
  void numberReturnedInResetContinuesAtItsLastPosition() {
    exchange(3);
    qp.modify(QpAttributes.to(QpState.RESET));
    qp.close();

    assertThat(next()).isEqualTo(3);
    assertThat(it.device.qpNumbers().retired()).isZero();
  }

  @Test
  void psnsWrapWithoutHarm() {
    exchange(1);
    receive(1);
    int most = 1 << 30;
    for (int packets = 0; packets < 1 << 24; packets += StateFlowBySoftware.of(qp).packets(most)) {
      StateFlowBySoftware.of(qp).received(most);
    }
    qp.modify(QpAttributes.to(QpState.RESET));
  }

  @Test
  void receiveCompletedByTheCardAfterTheDriverRetiresTheNumber() {
    receive(2);
    qp.modify(QpAttributes.to(QpState.ERR));
    assertThat(cq.poll(completions, 1)).isOne();
    assertThat(completions.status(0)).isEqualTo(WcStatus.WR_FLUSH_ERR);
    int peer = qp.number();
    Cqe.encodeSuccess(
        ring, 0, qp.number(), peer, 0, 0, MESSAGE, 0, false, BthOpcode.SEND_ONLY, 0x00);

    assertThat(cq.poll(completions, 1)).as("the other one").isOne();
    assertThat(completions.wrId(0)).isOne();
    assertThat(it.device.counts().lateCompletions()).isOne();
    assertErrno(Errno.EIO, () -> qp.modify(QpAttributes.to(QpState.RESET)));
    qp.close();
    assertThat(it.device.qpNumbers().retired()).isOne();
  }

  @Test
  void completionsTheDriverGeneratedBeforeAreNotReported() {
    try (CompletionChannel channel = it.context.createCompletionChannel();
        HghcaCompletionQueue told =
            (HghcaCompletionQueue)
                it.context.createCompletionQueue(
                    CompletionQueueConfig.of(RING).withRingEntries(RING).withChannel(channel))) {
      MemorySegment completed = told.memory().segment();
      try (HghcaQueuePair other = queuePair(told)) {
        it.connect(other);
        other.postReceive(new ReceiveRequest().into(memory, 0, MESSAGE));
        other.modify(QpAttributes.to(QpState.ERR));
        assertThat(told.poll(completions)).isOne();
        told.requestNotify(false);
        Cqe.encodeSuccess(
            completed,
            0,
            other.number(),
            other.number(),
            0,
            0,
            MESSAGE,
            0,
            false,
            BthOpcode.SEND_ONLY,
            0x00);

        // The reporting thread may have checked before.
        assertThat(told.look(false)).isNotIn(WatchedQueue.Look.NOT_ARMED, WatchedQueue.Look.TELL);
        assertThat(channel.poll()).isEmpty();
      }
    }
  }

  @Test
  void unpolledCompletionQueueContinuesBehindDroppedEntries() {
    exchange(3);
    qp.close();
    cq.close();
    HghcaCompletionQueue again = queue();
    while (again.number() != cq.number()) {
      again.close();
      again = queue();
    }
    try (HghcaQueuePair other = queuePair(again)) {
      for (int count : new int[] {4, 4, 4, 1}) { // and 3: twice as many as it holds, once around
        it.connect(other);
        for (int i = 0; i < count; i++) {
          other.postReceive(new ReceiveRequest().into(memory, 0, MESSAGE));
          other.postSend(new SendRequest().send().sge(memory, 0, MESSAGE).signaled());
          await(it.cq);
        }
        other.modify(QpAttributes.to(QpState.RESET));
      }
    }
    again.close();

    assertThat(it.device.cqNumbers().position(cq.number())).contains(0);
  }

  @Test
  void completionOfZerosIndicatesAnEmptyMessage() {
    ring.asSlice(0, Cqe.SIZE).fill((byte) 0);

    assertThat(cq.poll(completions, 1)).isZero();
    assertErrno(Errno.EIO, () -> cq.poll(completions, 1))
        .hasMessageContaining("zero-length message");
  }
}
