package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.abi.QueuePairContext.HAS_SRQ;
import static org.hghca.abi.QueuePairContext.RECEIVE_RING_OFFSET;
import static org.hghca.abi.QueuePairContext.SEND_RING_OFFSET;
import static org.hghca.abi.QueuePairContext.SEND_WQE_LENGTH;
import static org.hghca.abi.QueuePairContext.SEND_WQE_LKEY;
import static org.hghca.abi.QueuePairContext.SRQN;

import java.util.List;
import org.hghca.abi.DataUnit;
import org.hghca.abi.EventQueueContext;
import org.hghca.abi.EventType;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.MptFlags;
import org.hghca.abi.NextUnit;
import org.hghca.abi.QpcState;
import org.hghca.abi.SrqContext;
import org.hghca.model.Host.Buffer;
import org.hghca.model.Host.Eq;
import org.hghca.model.Host.Event;
import org.hghca.model.Host.Piece;
import org.hghca.model.Host.Qp;
import org.hghca.vfio.DmaMapping;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The extensions of the software HCA with a minimal driver: shared receive queues, rings at
 * offsets.
 */
class SharedReceiveQueueTest {
  private static final int SRQN_USED = 3;
  private static final int LOG_SIZE = 3;
  private static final int STRIDE_LOG = 6;
  private static final int RING = 1 << LOG_SIZE + STRIDE_LOG;
  private static final int BEFORE = 128;
  private static final int COUNT = BEFORE + RING;
  private static final int EQN = 2;
  private static final int BAD_PARAM = 3;

  private final Host host = Host.open("model:srq?mode=inline&cable=srq").bringUp();
  private final DmaMapping memory = host.function.allocate(4096);
  private final int key = host.register(memory, 0, MptFlags.QUEUE_ONLY);
  private final Buffer sink = host.buffer(4096, Host.ALL);
  private int count;

  @AfterEach
  void close() {
    host.close();
  }

  private SrqContext context(int logSize, int strideLog, int lkey, int limit) {
    return new SrqContext(
        0, logSize, SRQN_USED, lkey, COUNT, strideLog, 0, BEFORE, Host.PD, limit, 0, 0);
  }

  private int give(HcrCommand command, SrqContext context) {
    context.encode(host.in());
    return host.command(command, 0, SRQN_USED);
  }

  private void make(int limit) {
    assertThat(give(HcrCommand.SW2HW_SRQ, context(LOG_SIZE, STRIDE_LOG, key, limit))).isZero();
  }

  private int arm(int limit) {
    return host.command(HcrCommand.ARM_SRQ.code(), 0, limit, SRQN_USED, 0);
  }

  private SrqContext query() {
    host.must(HcrCommand.QUERY_SRQ, 0, SRQN_USED);
    return SrqContext.decode(host.out());
  }

  /** Posts a request of 64 bytes into a slot, linked to another slot. */
  private void post(int slot, int next) {
    long at = BEFORE + ((long) slot << STRIDE_LOG);
    DataUnit.write(memory.segment(), at + 16, 64, sink.key(), sink.address() + 64L * slot);
    DataUnit.writeTerminator(memory.segment(), at + 32);
    NextUnit.write(memory.segment(), at, NextUnit.address((next << STRIDE_LOG) / 16, 0), 0, 0, 0);
    SrqContext.writeCount(memory.segment(), COUNT, ++count);
  }

  private Eq events() {
    Eq eq =
        host.eq(
            EQN,
            4,
            EventQueueContext.OWNER_HW | EventQueueContext.TRANSLATE | EventQueueContext.ARMED);
    host.mapEvents(EQN, false, EventType.values());
    return eq;
  }

  /** Two queue pairs, the second of which receives from the shared queue. */
  private Qp[] pair() {
    Qp[] pair = {host.qp(), host.qp()};
    pair[1].context.set(HAS_SRQ, 1).set(SRQN, SRQN_USED);
    Host.connect(host, pair[0], host, pair[1]);
    return pair;
  }

  private void send(Qp from) {
    from.send(new Piece(sink, 2048, 8));
  }

  @Test
  void queueIsTakenOnceAndReturnedOnce() {
    assertThat(host.command(HcrCommand.QUERY_SRQ, 0, SRQN_USED)).isEqualTo(BAD_PARAM);
    assertThat(arm(1)).isEqualTo(BAD_PARAM);
    make(0);
    assertThat(give(HcrCommand.SW2HW_SRQ, context(LOG_SIZE, STRIDE_LOG, key, 0)))
        .isEqualTo(BAD_PARAM);
    host.must(HcrCommand.HW2SW_SRQ, 0, SRQN_USED);
    assertThat(host.command(HcrCommand.HW2SW_SRQ, 0, SRQN_USED)).isEqualTo(BAD_PARAM);
    make(0);
  }

  @Test
  void impossibleQueuesAreRefused() {
    assertThat(give(HcrCommand.SW2HW_SRQ, context(LOG_SIZE, 4, key, 0))).isEqualTo(BAD_PARAM);
    assertThat(give(HcrCommand.SW2HW_SRQ, context(LOG_SIZE, 13, key, 0))).isEqualTo(BAD_PARAM);
    make(0);
    assertThat(give(HcrCommand.RESIZE_SRQ, context(LOG_SIZE - 1, STRIDE_LOG, key, 0)))
        .isEqualTo(BAD_PARAM);
    assertThat(give(HcrCommand.RESIZE_SRQ, context(LOG_SIZE, STRIDE_LOG + 1, key, 0)))
        .isEqualTo(BAD_PARAM);
    assertThat(give(HcrCommand.RESIZE_SRQ, context(LOG_SIZE, STRIDE_LOG, key, 0))).isZero();
  }

  @Test
  void messagesTakeRequestsAlongTheChain() {
    make(0);
    Qp[] pair = pair();
    post(0, 5);
    post(5, 2);
    assertThat(query().posted()).isEqualTo(2);
    send(pair[0]);
    send(pair[0]);
    assertThat(pair[1].cq.take().wqe()).isZero();
    assertThat(pair[1].cq.take().wqe()).isEqualTo(5 << STRIDE_LOG);
    assertThat(query().posted()).isZero();
    assertThat(query().taken()).isEqualTo(2);
    assertThat(pair[1].cq.hasNext()).isFalse();
  }

  @Test
  void limitIsReportedOnceAndIsZeroThen() {
    Eq eq = events();
    make(2);
    Qp[] pair = pair();
    post(0, 1);
    post(1, 2);
    post(2, 3);
    send(pair[0]);
    assertThat(query().limit()).isEqualTo(2);
    send(pair[0]);
    Event limit = new Event(EventType.SRQ_LIMIT.code(), 0, SRQN_USED);
    assertThat(eq.take()).contains(limit);
    assertThat(query().limit()).isZero();
    send(pair[0]);
    assertThat(eq.take()).isEmpty();
    assertThat(arm(1)).as("undercut already").isZero();
    assertThat(eq.take()).containsExactly(limit);
  }

  @Test
  void queuePairInErrTakesNothingAndIsReported() {
    Eq eq = events();
    make(0);
    Qp[] pair = pair();
    post(0, 1);
    assertThat(pair[1].modify(HcrCommand.ANY2ERR, QpcState.ERR)).isZero();
    assertThat(eq.take())
        .isEqualTo(List.of(new Event(EventType.SRQ_QP_LAST_WQE.code(), 0, pair[1].number)));
    assertThat(pair[1].cq.hasNext()).isFalse();
    assertThat(query().posted()).isOne();
  }

  @Test
  void chainThatLeavesItsRingIsAnErrorOfTheQueue() {
    Eq eq = events();
    make(0);
    Qp[] pair = pair();
    post(0, 1 << LOG_SIZE);
    send(pair[0]);
    assertThat(eq.take())
        .contains(new Event(EventType.SRQ_CATAS_ERROR.code(), 0, SRQN_USED))
        .contains(new Event(EventType.WQ_CATAS_ERROR.code(), 0, pair[1].number));
    assertThat(query().state()).isOne();
    assertThat(pair[1].state()).isEqualTo(QpcState.ERR);
  }

  @Test
  void queueWhoseMemoryIsUnmappedIsInError() {
    Eq eq = events();
    make(0);
    host.must(HcrCommand.HW2SW_MPT, 0, key);
    assertThat(query().state()).isOne();
    assertThat(eq.take())
        .containsExactly(new Event(EventType.SRQ_CATAS_ERROR.code(), 0, SRQN_USED));
  }

  @Test
  void ringsStartAtTheirOffsetAndStayInTheirRegion() {
    Qp one = host.qp();
    Qp other = host.qp();
    DmaMapping slab = host.function.allocate(2 * 4096);
    int slabKey = host.register(slab, 0, MptFlags.QUEUE_ONLY);
    other.context.set(RECEIVE_RING_OFFSET, 0);
    one.context.set(SEND_WQE_LKEY, slabKey).set(SEND_RING_OFFSET, 4096);
    Host.connect(host, one, host, other);
    other.receive(new Piece(sink, 0, 64));
    // The minimal driver writes into a ring of its own: the slab has it at its offset.
    int offset = one.write(0x0a, 0, 0, 0, new Piece(sink, 2048, 8));
    slab.segment()
        .asSlice(4096, Host.QUEUE_BYTES)
        .copyFrom(one.sendRing.segment().asSlice(0, Host.QUEUE_BYTES));
    one.ringDoorbell(offset, 0x0a, one.size(0x0a, 1), 0);
    assertThat(one.cq.take().failed()).isFalse();

    Qp beyond = host.qp();
    beyond
        .context
        .set(SEND_WQE_LKEY, slabKey)
        .set(SEND_RING_OFFSET, 2 * 4096)
        .set(SEND_WQE_LENGTH, Host.QUEUE_BYTES);
    Host.connect(host, beyond, host, host.qp());
    beyond.ringDoorbell(0, 0x0a, 2, 0);
    assertThat(beyond.cq.take().failed()).as("behind the end of the region").isTrue();
  }
}
