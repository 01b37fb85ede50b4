package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.abi.EventType.COMM_EST;
import static org.hghca.abi.EventType.CQ_ERROR;
import static org.hghca.abi.EventType.LOCAL_CATAS_ERROR;
import static org.hghca.abi.EventType.PORT_CHANGE;
import static org.hghca.abi.EventType.SQ_DRAINED;
import static org.hghca.abi.EventType.WQ_ACCESS_ERROR;
import static org.hghca.abi.EventType.WQ_CATAS_ERROR;
import static org.hghca.abi.EventType.WQ_INVAL_REQ_ERROR;
import static org.hghca.abi.QueuePairContext.NEXT_RECEIVE_PSN;
import static org.hghca.abi.QueuePairContext.OPT_PARAM_MASK;
import static org.hghca.abi.QueuePairContext.RECEIVE_WQE_LKEY;
import static org.hghca.abi.QueuePairContext.REMOTE_WRITE_ENABLE;
import static org.hghca.abi.QueuePairContext.SEND_WQE_LKEY;
import static org.hghca.abi.QueuePairContext.SERVICE_TYPE;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.EventQueueContext;
import org.hghca.abi.EventType;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.MapIcm;
import org.hghca.abi.OptParamMask;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QpcState;
import org.hghca.model.Host.Event;
import org.hghca.model.Host.Piece;
import org.hghca.vfio.DmaMapping;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Events that the card reports by itself, and MAP_EQ, which selects their event queue. */
class AsynchronousEventTest {
  private static final int EQN = 2;
  private static final int ARMED = EventQueueContext.ARMED;
  private static final int PORT_DOWN = 1;
  private static final int PORT_UP = 4;

  private final Pair pair = new Pair();
  private final Host.Buffer source = pair.left.buffer(8192, Host.ALL);
  private final Host.Buffer target = pair.right.buffer(8192, Host.ALL);
  private Host.Eq left;
  private Host.Eq right;

  @BeforeEach
  void mapAll() {
    left = pair.left.eq(EQN, 4, ARMED);
    pair.left.mapEvents(EQN, false, EventType.values());
    right = pair.right.eq(EQN, 4, ARMED);
    pair.right.mapEvents(EQN, false, EventType.values());
  }

  @AfterEach
  void close() {
    pair.close();
  }

  private static Event event(EventType type, int data) {
    return new Event(type.code(), 0, data);
  }

  private void write() {
    pair.a.write(target, 0, new Piece(source, 0, 8));
  }

  /** The left side is in RTS, the right one only in RTR. */
  private void connectHalf() {
    pair.a.peer(pair.right, pair.b);
    pair.b.peer(pair.left, pair.a);
    pair.a.toRts();
    pair.b.toRtr();
  }

  @Test
  void firstPacketInRtrEstablishesTheConnection() {
    connectHalf();
    assertThat(right.take()).isEmpty();
    write();
    write();
    assertThat(right.take()).containsExactly(event(COMM_EST, pair.b.number));
    assertThat(pair.right.interrupts()).isEqualTo(1L << EQN);
    assertThat(pair.b.modify(HcrCommand.RTR2RTS, QpcState.RTS)).isZero();
    write();
    assertThat(right.take()).isEmpty();
    assertThat(left.take()).isEmpty();
  }

  @Test
  void everyStayInRtrHasAFirstPacket() {
    connectHalf();
    write();
    assertThat(right.take()).hasSize(1);
    int next = pair.b.query().get(NEXT_RECEIVE_PSN);
    assertThat(pair.b.modify(HcrCommand.ERR2RST, QpcState.RST)).isZero();
    pair.b.context.set(NEXT_RECEIVE_PSN, next);
    pair.b.toRtr();
    write();
    assertThat(right.take()).containsExactly(event(COMM_EST, pair.b.number));
  }

  @Test
  void queuePairInRtsRaisesNoEstablishedEvent() {
    pair.connect();
    write();
    assertThat(right.take()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"true", "false"})
  void idleSendQueueIsDrainedAtOnceOnRequest(boolean asks) {
    pair.connect();
    stop(asks);
    assertThat(left.take()).isEqualTo(asks ? List.of(event(SQ_DRAINED, pair.a.number)) : List.of());
    write(); // waits
    assertThat(left.take()).isEmpty();
  }

  private void stop(boolean asks) {
    pair.a.context.set(OPT_PARAM_MASK, asks ? OptParamMask.EN_SQD_ASYNC_NOTIFY : 0);
    assertThat(pair.a.modify(HcrCommand.RTS2SQD, QpcState.SQD)).isZero();
  }

  @Test
  void messageInFlightEndsBeforeTheSendQueueIsDrained() {
    pair.connect();
    pair.a.send(new Piece(source, 0, 8)); // finds no receive, is retransmitted after 640 us
    stop(true);
    write(); // rung in SQD: not started
    assertThat(left.take()).isEmpty();
    pair.b.receive(new Piece(target, 0, 8));
    pair.simulation.advance(Duration.ofMillis(1));
    assertThat(pair.a.cq.take().failed()).isFalse();
    assertThat(pair.a.cq.hasNext()).isFalse();
    assertThat(left.take()).containsExactly(event(SQ_DRAINED, pair.a.number));
    pair.simulation.advance(Duration.ofSeconds(1));
    assertThat(left.take()).isEmpty();
  }

  @Test
  void sendQueueThatContinuesIsNotDrained() {
    pair.connect();
    pair.a.send(new Piece(source, 0, 8));
    stop(true);
    assertThat(pair.a.modify(HcrCommand.SQD2RTS, QpcState.RTS)).isZero();
    pair.b.receive(new Piece(target, 0, 8));
    pair.simulation.advance(Duration.ofMillis(1));
    assertThat(pair.a.cq.take().failed()).isFalse();
    stop(false);
    assertThat(left.take()).isEmpty();
  }

  @Test
  void unreliableConnectionIsEstablishedAndDrainedToo() {
    pair.a.context.set(SERVICE_TYPE, QpcServiceType.UC);
    pair.b.context.set(SERVICE_TYPE, QpcServiceType.UC);
    connectHalf();
    write();
    assertThat(right.take()).containsExactly(event(COMM_EST, pair.b.number));
    stop(true);
    assertThat(left.take()).containsExactly(event(SQ_DRAINED, pair.a.number));
  }

  @Test
  void requestRefusedAsInvalidRaisesAnEvent() {
    pair.b.context.set(REMOTE_WRITE_ENABLE, 0);
    pair.connect();
    write();
    assertThat(right.take()).containsExactly(event(WQ_INVAL_REQ_ERROR, pair.b.number));
    assertThat(left.take()).isEmpty();
  }

  /**
   * InfiniBand specification, volume 1, 9.9.3.1: a fault is reported by a completion or an event.
   */
  @Test
  void receiveThatIsTooSmallCompletesWithoutAnEvent() {
    pair.connect();
    pair.b.receive(new Piece(target, 0, 7));
    pair.a.send(new Piece(source, 0, 8));
    assertThat(pair.b.cq.take().failed()).isTrue();
    assertThat(pair.b.state()).isEqualTo(QpcState.ERR);
    assertThat(right.take()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"08", "10"})
  void requestRefusedForAccessRaisesAnEvent(String opcode) {
    pair.connect();
    Host.Buffer closed = pair.right.buffer(4096, Host.LOCAL);
    pair.a.post(
        Integer.parseInt(opcode, 16),
        closed.address(),
        closed.key(),
        0,
        0,
        new Piece(source, 0, 8));
    assertThat(right.take()).containsExactly(event(WQ_ACCESS_ERROR, pair.b.number));
    assertThat(left.take()).isEmpty();
  }

  @Test
  void sendQueueThatCannotBeReadFails() {
    pair.connect();
    pair.left.must(HcrCommand.HW2SW_MPT, 0, pair.a.context.get(SEND_WQE_LKEY));
    write();
    assertThat(pair.a.cq.take().word()).isEqualTo(2);
    assertThat(pair.a.state()).isEqualTo(QpcState.ERR);
    write();
    assertThat(left.take()).containsExactly(event(WQ_CATAS_ERROR, pair.a.number));
  }

  @Test
  void receiveQueueThatCannotBeReadFailsWithoutACompletion() {
    pair.connect();
    pair.right.must(HcrCommand.HW2SW_MPT, 0, pair.b.context.get(RECEIVE_WQE_LKEY));
    pair.a.send(new Piece(source, 0, 8));
    assertThat(pair.a.cq.take().word()).isEqualTo(0x14);
    assertThat(pair.b.cq.hasNext()).isFalse();
    assertThat(pair.b.state()).isEqualTo(QpcState.ERR);
    assertThat(right.take()).containsExactly(event(WQ_CATAS_ERROR, pair.b.number));
  }

  @Test
  void overrunCqFailsPermanentlyTogetherWithItsQueuePairs() {
    Host.Cq small = pair.left.cq(1);
    pair.a = pair.left.qp(small);
    pair.connect();
    Host.Qp other = pair.left.qp(small);
    Host.connect(pair.left, other, pair.right, pair.right.qp());
    write();
    write();
    assertThat(left.take()).isEmpty();
    write();
    assertThat(left.take())
        .containsExactly(event(CQ_ERROR, small.number), event(WQ_CATAS_ERROR, pair.a.number));
    assertThat(pair.a.state()).isEqualTo(QpcState.ERR);
    assertThat(other.state()).isEqualTo(QpcState.RTS);
    assertThat(pair.leftHca().faults())
        .containsExactly(
            "a completion for CQ %d is lost: entry 0 of its memory has not been consumed"
                .formatted(small.number));
    // The entries stay unchanged, and consuming them does not recover the CQ.
    assertThat(small.take().failed()).isFalse();
    assertThat(small.take().failed()).isFalse();
    other.write(target, 0, new Piece(source, 0, 8));
    assertThat(small.hasNext()).isFalse();
    assertThat(left.take()).containsExactly(event(WQ_CATAS_ERROR, other.number));
    assertThat(other.state()).isEqualTo(QpcState.ERR);
  }

  @Test
  void cqThatIsReturnedAndTakenAgainWorks() {
    Host.Cq small = pair.left.cq(0);
    pair.a = pair.left.qp(small);
    pair.connect();
    write();
    write();
    assertThat(left.take()).hasSize(2);
    pair.left.must(HcrCommand.HW2SW_CQ, 0, small.number);
    Host.Cq next = pair.left.cq(4);
    pair.left.must(HcrCommand.HW2SW_CQ, 0, next.number);
    new CompletionQueueContext(1 << 18, 0, 4, 0, 0, Host.PD, pair.left.lastKey(), small.number)
        .encode(pair.left.in());
    pair.left.must(HcrCommand.SW2HW_CQ, 0, small.number);
    pair.a = pair.left.qp(small);
    pair.b = pair.right.qp();
    pair.connect();
    write();
    assertThat(next.take().failed()).isFalse();
    assertThat(left.take()).isEmpty();
  }

  @Test
  void cqWhoseMemoryIsUnmappedFails() {
    pair.connect();
    Host.Cq gone = pair.left.cq(3);
    pair.left.must(HcrCommand.HW2SW_MPT, 0, pair.left.lastKey());
    Host.Qp a = pair.left.qp(gone);
    Host.connect(pair.left, a, pair.right, pair.right.qp());
    a.write(target, 0, new Piece(source, 0, 8));
    assertThat(left.take())
        .containsExactly(event(CQ_ERROR, gone.number), event(WQ_CATAS_ERROR, a.number));
  }

  @Test
  void unreachableTableIsACatastropheOnce() {
    pair.connect();
    // The page of these queue pairs' contexts is mapped for the card, but no longer for its bus.
    DmaMapping page = moveContexts(pair.left, pair.a);
    page.close();
    write();
    write();
    assertThat(left.take()).containsExactly(event(LOCAL_CATAS_ERROR, 0));
  }

  private static DmaMapping moveContexts(Host host, Host.Qp qp) {
    DmaMapping page = host.function.allocate(4096);
    page.segment().copyFrom(host.icm.segment().asSlice(0, 4096));
    MapIcm.encode(host.in(), List.of(new IcmChunk(Host.QPC, page.iova(0), 1)));
    host.must(HcrCommand.MAP_ICM, MapIcm.CONTEXTS, 1);
    assertThat(qp.state()).isEqualTo(QpcState.RTS);
    return page;
  }

  @Test
  void internalFailureIsACatastropheOnceUntilAReset() {
    pair.leftHca().participant().failed(new IllegalStateException("made up"));
    pair.simulation.run();
    pair.leftHca().participant().failed(new IllegalStateException("made up"));
    pair.simulation.run();
    assertThat(left.take()).containsExactly(event(LOCAL_CATAS_ERROR, 0));
    pair.left.must(HcrCommand.CLOSE_HCA, 0, 0);
    pair.left.renew();
    left = pair.left.eq(EQN, 4, ARMED);
    pair.left.mapEvents(EQN, false, LOCAL_CATAS_ERROR);
    assertThat(left.take()).isEmpty();
    pair.leftHca().participant().failed(new IllegalStateException("made up"));
    pair.simulation.run();
    assertThat(left.take()).containsExactly(event(LOCAL_CATAS_ERROR, 0));
  }

  @Test
  void unmappedTableIsNotACatastrophe() {
    pair.connect();
    assertThat(pair.left.command(0xff9, 1, Host.QPC, 16, 0)).isZero();
    write();
    assertThat(left.take()).isEmpty();
  }

  @Test
  void failedEqIsReportedByAnotherAsACatastrophe() {
    Host.Eq broken = pair.left.eq(5, 3, ARMED);
    pair.left.mapEvents(5, false, SQ_DRAINED);
    pair.connect();
    pair.left.must(HcrCommand.HW2SW_MPT, 0, broken.key);
    stop(true);
    assertThat(left.take()).containsExactly(event(LOCAL_CATAS_ERROR, 0));
    assertThat(pair.leftHca().faults())
        .containsExactly(
            "an event is lost and EQ 5 in error: entry 0 of its memory cannot be written (DENIED)");
  }

  @Test
  void eqThatWouldReportItsOwnEndReportsNothing() {
    pair.connect();
    pair.left.must(HcrCommand.HW2SW_MPT, 0, left.key);
    stop(true);
    assertThat(left.take()).isEmpty();
    assertThat(pair.leftHca().faultCount()).isEqualTo(1);
  }

  @Test
  void portIsUpWhileTheOtherEndOfItsCableIsAttached() {
    pair.right.close();
    assertThat(left.take()).containsExactly(new Event(PORT_CHANGE.code(), PORT_DOWN, 1));
    try (Host again =
        Host.open(
            "model:again?cable=c&mac=02:00:00:00:00:09&sim="
                + pair.left.function.locator().parameter("sim").orElseThrow())) {
      assertThat(left.take()).containsExactly(new Event(PORT_CHANGE.code(), PORT_UP, 1));
      assertThat(again.hca().cable()).isPresent();
    }
    assertThat(left.take()).containsExactly(new Event(PORT_CHANGE.code(), PORT_DOWN, 1));
  }

  @ParameterizedTest
  @EnumSource(EventType.class)
  void everyEventTypeIsMappedSeparately(EventType type) {
    Host.Eq other = pair.left.eq(7, 3, ARMED);
    List<EventType> others = new ArrayList<>(List.of(EventType.values()));
    others.remove(type);
    pair.left.mapEvents(7, false, others.toArray(EventType[]::new));
    pair.connect();
    boolean drained = type == SQ_DRAINED;
    stop(true);
    assertThat(left.take()).hasSize(drained ? 1 : 0);
    assertThat(other.take()).hasSize(drained ? 0 : 1);
  }

  @Test
  void eventsWithoutAnEqAreDropped() {
    pair.left.eq(7, 3, ARMED);
    pair.left.mapEvents(7, true, EventType.values()); // not mapped to that EQ
    pair.connect();
    stop(true);
    assertThat(left.take()).hasSize(1);
    assertThat(pair.a.modify(HcrCommand.SQD2RTS, QpcState.RTS)).isZero();
    pair.left.mapEvents(EQN, true, SQ_DRAINED);
    stop(true);
    assertThat(left.take()).isEmpty();
    assertThat(pair.leftHca().faults()).isEmpty();
  }

  @Test
  void returnedEqGetsNoEvents() {
    pair.connect();
    pair.left.must(HcrCommand.HW2SW_EQ, 0, EQN);
    Host.Eq again = pair.left.eq(EQN, 3, ARMED);
    stop(true);
    assertThat(left.take()).isEmpty();
    assertThat(again.take()).isEmpty();
    assertThat(pair.leftHca().faults()).isEmpty();
  }

  @Test
  void resetClearsTheEventMap() {
    pair.left.function.reset();
    pair.left.function.configuration().busMaster(true);
    pair.left.renew();
    Host.Eq again = pair.left.eq(EQN, 3, ARMED);
    pair.right.close();
    assertThat(again.take()).isEmpty();
    assertThat(pair.left.interrupts()).isZero();
  }
}
