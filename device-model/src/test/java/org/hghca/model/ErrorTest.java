package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import org.hghca.abi.Bar;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.InlineUnit;
import org.hghca.abi.NextUnit;
import org.hghca.abi.QueuePairContext;
import org.hghca.model.Host.Completion;
import org.hghca.model.Host.Piece;
import org.hghca.vfio.DmaMapping;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Errors on a connection: statuses of both sides, flushes, states. */
class ErrorTest {
  private static final int LOCAL_LENGTH = 0x01;
  private static final int LOCAL_QP_OPERATION = 0x02;
  private static final int LOCAL_PROTECTION = 0x04;
  private static final int FLUSHED = 0x05;
  private static final int REMOTE_INVALID_REQUEST = 0x12;
  private static final int REMOTE_ACCESS = 0x13;
  private static final int REMOTE_OPERATION = 0x14;
  private static final int RETRIES_EXCEEDED = 0x15;
  private static final int RNR_RETRIES_EXCEEDED = 0x16;
  private static final int RTS = 3;
  private static final int ERR = 6;

  private final Pair pair = new Pair();
  private final Host.Buffer source = pair.left.buffer(8192, Host.ALL);
  private final Host.Buffer target = pair.right.buffer(8192, Host.ALL);

  @AfterEach
  void close() {
    pair.close();
  }

  private void sendFails(int wqe, int syndrome) {
    assertThat(pair.a.cq.take())
        .isEqualTo(new Completion(pair.a.number, 0xff, true, 0, wqe, 0, syndrome));
  }

  private void receiveFails(int wqe, int syndrome) {
    assertThat(pair.b.cq.take())
        .isEqualTo(new Completion(pair.b.number, 0xff, false, 0, wqe, 0, syndrome));
  }

  private void bothInError() {
    assertThat(pair.a.state()).isEqualTo(ERR);
    assertThat(pair.b.state()).isEqualTo(ERR);
  }

  /** One byte before, one behind, and the whole; lengths that wrap around. */
  @ParameterizedTest
  @CsvSource({
    "-1, 8, false",
    "0, 0, true",
    "0, 8192, true",
    "1, 8192, false",
    "8191, 1, true",
    "8192, 1, false",
    "8185, 8, false",
    "8184, 8, true",
    "-4096, 8, false"
  })
  void remoteBoundsAreExactToTheByte(long offset, int length, boolean allowed) {
    pair.connect();
    int wqe = pair.a.write(target, offset, new Piece(source, 0, length));
    if (allowed) {
      assertThat(pair.a.cq.take().bytes()).isEqualTo(length);
    } else {
      sendFails(wqe, REMOTE_ACCESS);
      bothInError();
    }
  }

  @ParameterizedTest
  @CsvSource({"-1, 8, false", "1, 8192, false", "0, 8192, true", "8192, 1, false"})
  void localBoundsAreExactToTheByte(long offset, int length, boolean allowed) {
    pair.connect();
    int wqe = pair.a.write(target, 0, new Piece(source, offset, length));
    if (allowed) {
      assertThat(pair.a.cq.take().bytes()).isEqualTo(length);
    } else {
      sendFails(wqe, LOCAL_PROTECTION);
      assertThat(pair.a.state()).isEqualTo(ERR);
      assertThat(pair.b.state()).isEqualTo(RTS);
    }
  }

  @Test
  void boundsHoldWhereARegionDoesNotStartOnAPage() {
    pair.connect();
    DmaMapping memory = pair.right.function.allocate(8192);
    int key =
        pair.right.register(0x10_0123L, 5000, Host.ALL, Host.PD, memory.iova(0), memory.iova(4096));
    Host.Buffer odd = new Host.Buffer(memory.segment(), memory, 0x10_0123L, key);
    source.memory().fill((byte) 7);
    pair.a.write(odd, 0, new Piece(source, 0, 5000));
    assertThat(pair.a.cq.take().failed()).isFalse();
    assertThat(memory.segment().get(ValueLayout.JAVA_BYTE, 0x122)).isZero();
    assertThat(memory.segment().get(ValueLayout.JAVA_BYTE, 0x123)).isEqualTo((byte) 7);
    assertThat(memory.segment().get(ValueLayout.JAVA_BYTE, 0x122 + 5000)).isEqualTo((byte) 7);
    assertThat(memory.segment().get(ValueLayout.JAVA_BYTE, 0x123 + 5000)).isZero();
    int wqe = pair.a.write(odd, 1, new Piece(source, 0, 5000));
    sendFails(wqe, REMOTE_ACCESS);
  }

  /** Access flags 1: local write, 2: remote write, 4: remote read; see table 3-2-19. */
  @ParameterizedTest
  @CsvSource({
    "08, 0, 2, 00",
    "08, 0, 5, 13",
    "10, 1, 4, 00",
    "10, 1, 3, 13",
    "10, 0, 4, 04",
    "0a, 0, 1, 00",
    "0a, 0, 6, 14"
  })
  void eachOperationNeedsItsAccess(String opcode, int local, int remote, String syndrome) {
    pair.connect();
    Host.Buffer ours = pair.left.buffer(4096, local);
    Host.Buffer theirs = pair.right.buffer(4096, remote);
    pair.b.receive(new Piece(theirs, 0, 8));
    int wqe =
        pair.a.post(
            Integer.parseInt(opcode, 16),
            theirs.address(),
            theirs.key(),
            0,
            0,
            new Piece(ours, 0, 8));
    int expected = Integer.parseInt(syndrome, 16);
    if (expected == 0) {
      assertThat(pair.a.cq.take().failed()).isFalse();
    } else {
      sendFails(wqe, expected);
      if (expected == REMOTE_OPERATION) {
        receiveFails(0, LOCAL_PROTECTION);
      }
    }
  }

  @Test
  void allBitsOfAKeyMustMatch() {
    pair.connect();
    int wqe =
        pair.a.post(
            0x08, target.address(), target.key() | 0x0100_0000, 0, 0, new Piece(source, 0, 8));
    sendFails(wqe, REMOTE_ACCESS);
  }

  @Test
  void protectionDomainsAreSeparate() {
    pair.connect();
    DmaMapping memory = pair.right.function.allocate(4096);
    int key = pair.right.register(0, 4096, Host.ALL, Host.PD + 1, memory.iova(0));
    int wqe = pair.a.post(0x08, 0, key, 0, 0, new Piece(source, 0, 8));
    sendFails(wqe, REMOTE_ACCESS);
  }

  @Test
  void deregisteredRegionIsInaccessibleAtOnce() {
    pair.connect();
    pair.a.write(target, 0, new Piece(source, 0, 8));
    assertThat(pair.a.cq.take().failed()).isFalse();
    pair.right.must(HcrCommand.HW2SW_MPT, 0, target.key());
    int wqe = pair.a.write(target, 0, new Piece(source, 0, 8));
    sendFails(wqe, REMOTE_ACCESS);
  }

  @ParameterizedTest
  @CsvSource({"08, 1, 0", "09, 1, 0", "10, 0, 1"})
  void operationThatThePeerDoesNotEnableIsInvalid(String opcode, int read, int write) {
    pair.b.context.set(QueuePairContext.REMOTE_READ_ENABLE, read);
    pair.b.context.set(QueuePairContext.REMOTE_WRITE_ENABLE, write);
    pair.connect();
    int wqe =
        pair.a.post(
            Integer.parseInt(opcode, 16),
            target.address(),
            target.key(),
            0,
            0,
            new Piece(source, 0, 8));
    sendFails(wqe, REMOTE_INVALID_REQUEST);
    bothInError();
  }

  @Test
  void receiveBufferTooSmallFailsBothSides() {
    pair.connect();
    int slot = pair.b.receive(new Piece(target, 0, 99));
    int next = pair.b.receive(new Piece(target, 0, 99));
    int wqe = pair.a.send(new Piece(source, 0, 100));
    sendFails(wqe, REMOTE_INVALID_REQUEST);
    receiveFails(slot, LOCAL_LENGTH);
    receiveFails(next, FLUSHED);
    bothInError();
  }

  @Test
  void receiveBufferWithoutPermissionFailsBothSides() {
    pair.connect();
    Host.Buffer readOnly = pair.right.buffer(4096, 0);
    int slot = pair.b.receive(new Piece(readOnly, 0, 100));
    int wqe = pair.a.send(new Piece(source, 0, 100));
    sendFails(wqe, REMOTE_OPERATION);
    receiveFails(slot, LOCAL_PROTECTION);
    bothInError();
  }

  @Test
  void rnrRetriesAreExhausted() {
    pair.a.context.set(QueuePairContext.RNR_RETRY, 1);
    pair.connect();
    int wqe = pair.a.send(new Piece(source, 0, 8));
    pair.simulation.advance(Duration.ofNanos(639_999));
    assertThat(pair.a.cq.hasNext()).isFalse();
    pair.simulation.advance(Duration.ofNanos(1));
    sendFails(wqe, RNR_RETRIES_EXCEEDED);
    assertThat(pair.a.state()).isEqualTo(ERR);
    assertThat(pair.b.state()).isEqualTo(RTS);
  }

  @Test
  void silentPeerExhaustsTheRetries() {
    pair.a.context.set(QueuePairContext.ACK_TIMEOUT, 8).set(QueuePairContext.RETRY_COUNT, 2);
    pair.connect();
    pair.right.close();
    int first = pair.a.write(target, 0, new Piece(source, 0, 8));
    int second = pair.a.write(target, 0, new Piece(source, 0, 8));
    pair.simulation.advance(Duration.ofNanos(3 * 4096 * 256 - 1));
    assertThat(pair.a.cq.hasNext()).isFalse();
    pair.simulation.advance(Duration.ofNanos(1));
    sendFails(first, RETRIES_EXCEEDED);
    sendFails(second, FLUSHED);
  }

  @Test
  void lateReceiverIsReachedByRetransmission() {
    pair.a.peer(pair.right, pair.b);
    pair.b.peer(pair.left, pair.a);
    pair.a.toRts();
    pair.b.modify(HcrCommand.RST2INIT, 1);
    pair.a.write(target, 0, new Piece(source, 0, 8));
    assertThat(pair.a.cq.hasNext()).isFalse();
    assertThat(pair.rightHca().counters().packetsDropped()).isEqualTo(1);
    pair.b.modify(HcrCommand.INIT2RTR, 2);
    pair.simulation.advance(Duration.ofNanos(4096L << 14));
    assertThat(pair.a.cq.take().failed()).isFalse();
  }

  @Test
  void errFlushesBothQueuesInOrder() {
    pair.connect();
    int[] slots = new int[3];
    for (int i = 0; i < 3; i++) {
      slots[i] = pair.b.receive(new Piece(target, 0, 8));
    }
    assertThat(pair.b.modify(HcrCommand.ANY2ERR, ERR)).isZero();
    for (int slot : slots) {
      receiveFails(slot, FLUSHED);
    }
    int[] sends = new int[3];
    for (int i = 0; i < 3; i++) {
      sends[i] = pair.a.write(target, 0, new Piece(source, 0, 8));
    }
    assertThat(pair.a.cq.hasNext()).isFalse();
    assertThat(pair.a.modify(HcrCommand.ANY2ERR, ERR)).isZero();
    for (int send : sends) {
      sendFails(send, FLUSHED);
    }
    sendFails(pair.a.write(target, 0, new Piece(source, 0, 8)), FLUSHED);
    assertThat(pair.a.cq.hasNext()).isFalse();
    assertThat(pair.b.cq.hasNext()).isFalse();
  }

  @Test
  void receivesPostedInErrAreFlushedWithinAMillisecond() {
    pair.connect();
    pair.b.modify(HcrCommand.ANY2ERR, ERR);
    for (int i = 0; i < 3; i++) {
      int slot = pair.b.receive(new Piece(target, 0, 8));
      pair.simulation.advance(Duration.ofMillis(1));
      receiveFails(slot, FLUSHED);
      pair.b.clearSlot(slot);
    }
    // A queue pair that was taken away is not flushed, without a fault.
    pair.right.must(HcrCommand.HW2SW_MPT, 0, pair.b.context.get(QueuePairContext.RECEIVE_WQE_LKEY));
    pair.b.receive(new Piece(target, 0, 8));
    pair.simulation.advance(Duration.ofMillis(10));
    assertThat(pair.b.cq.hasNext()).isFalse();
    assertThat(pair.rightHca().faults()).isEmpty();
  }

  @Test
  void fullReceiveRingIsFlushedOnce() {
    pair.connect();
    for (int i = 0; i < 8; i++) {
      pair.b.receive(new Piece(target, 0, 8));
    }
    pair.b.modify(HcrCommand.ANY2ERR, ERR);
    for (int i = 0; i < 8; i++) {
      receiveFails(i * 512, FLUSHED);
    }
    assertThat(pair.b.cq.hasNext()).isFalse();
  }

  @Test
  void packetsForAQueuePairInErrAreDropped() {
    pair.connect();
    pair.b.modify(HcrCommand.ANY2ERR, ERR);
    pair.a.write(target, 0, new Piece(source, 0, 8));
    assertThat(pair.rightHca().counters().packetsSent()).isZero();
    assertThat(pair.rightHca().counters().packetsDropped()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({"00", "18", "1f", "07"})
  void unsupportedOpcodesAreOperationErrors(String opcode) {
    pair.connect();
    int code = Integer.parseInt(opcode, 16);
    int wqe = pair.a.write(0x0a, 0, 0, 0, new Piece(source, 0, 8));
    NextUnit.write(pair.a.sendRing.segment(), wqe, 0, 0, 0, 0);
    pair.a.ringDoorbell(wqe, code, 2, 0);
    sendFails(wqe, LOCAL_QP_OPERATION);
    assertThat(pair.a.state()).isEqualTo(ERR);
  }

  @Test
  void opcodeThatDiffersFromTheDoorbellIsAnOperationError() {
    pair.connect();
    int wqe = pair.a.write(0x08, target.address(), target.key(), 0, new Piece(source, 0, 8));
    pair.a.ringDoorbell(wqe, 0x09, 3, 0);
    sendFails(wqe, LOCAL_QP_OPERATION);
  }

  @Test
  void emptyOrOverlongWorkRequestIsAnOperationError() {
    pair.connect();
    pair.a.ringDoorbell(0, 0x08, 0, 0);
    sendFails(0, LOCAL_QP_OPERATION);
  }

  @Test
  void workRequestBeyondTheRingIsAnOperationError() {
    pair.connect();
    pair.a.ringDoorbell(4096 - 32, 0x08, 3, 0);
    sendFails(4096 - 32, LOCAL_QP_OPERATION);
  }

  @Test
  void seventeenPartsAreTooMany() {
    pair.connect();
    Piece[] pieces = new Piece[17];
    Arrays.fill(pieces, new Piece(source, 0, 8));
    int wqe = pair.a.send(pieces);
    sendFails(wqe, LOCAL_QP_OPERATION);
  }

  @Test
  void inlineDataBeyondItsWorkRequestIsAnOperationError() {
    pair.connect();
    int wqe = pair.a.write(0x0a, 0, 0, 0);
    InlineUnit.writeHeader(pair.a.sendRing.segment(), wqe + 16, 29);
    pair.a.ringDoorbell(wqe, 0x0a, 3, 0);
    sendFails(wqe, LOCAL_QP_OPERATION);
  }

  @Test
  void cyclicChainEnds() {
    pair.a = pair.left.qp(pair.left.cq(9));
    pair.connect();
    int wqe = pair.a.write(0x08, target.address(), target.key(), 0);
    NextUnit.link(pair.a.sendRing.segment(), wqe, wqe / 16, 0x08, 2, 0);
    pair.a.ringDoorbell(wqe, 0x08, 2, 0);
    // The ring has room for 256 work requests of 16 bytes; the next one is refused.
    assertThat(pair.leftHca().counters().completions()).isEqualTo(257);
    assertThat(pair.a.state()).isEqualTo(ERR);
  }

  @Test
  void doorbellsOutsideRtsAreDroppedAndRecorded() {
    pair.a.peer(pair.right, pair.b);
    pair.a.ringDoorbell(0, 0x08, 3, 0);
    pair.a.toRtr();
    pair.a.ringDoorbell(0, 0x08, 3, 0);
    assertThat(pair.leftHca().faults())
        .containsExactly(
            "doorbell for QP 0x%x in state RESET is dropped".formatted(pair.a.number),
            "doorbell for QP 0x%x in state RTR is dropped".formatted(pair.a.number));
    assertThat(pair.a.cq.hasNext()).isFalse();
    pair.a.modify(HcrCommand.RTR2RTS, RTS);
    assertThat(pair.a.cq.hasNext()).isFalse();
  }

  @Test
  void doorbellOfFourBytesIsDroppedAndRecorded() {
    pair.connect();
    pair.left.bar2.writeInt(0x3000, 0x0800_0008);
    assertThat(pair.leftHca().faults())
        .containsExactly("a store of 4 bytes to offset 0x0 of a UAR page is dropped");
    assertThat(pair.leftHca().counters().doorbells()).isZero();
  }

  @Test
  void accessToUnmappedMemoryIsAFaultAndAnError() {
    pair.connect();
    source.mapping().close();
    int wqe = pair.a.write(target, 0, new Piece(source, 0, 8));
    sendFails(wqe, LOCAL_PROTECTION);
    assertThat(pair.leftHca().faultCount()).isEqualTo(1);
    assertThat(pair.left.function.dmaFaults()).hasSize(1);
  }

  @Test
  void memoryOfAClosedArenaIsAFaultAndAnErrorOnBothSides() {
    pair.connect();
    Arena arena = Arena.ofShared();
    DmaMapping memory = pair.right.map(arena, 4096);
    int key = pair.right.register(memory, 0, Host.ALL);
    arena.close();
    int wqe = pair.a.post(0x08, 0, key, 0, 0, new Piece(source, 0, 8));
    sendFails(wqe, REMOTE_OPERATION);
    assertThat(pair.rightHca().faultCount()).isEqualTo(1);
    bothInError();
  }

  @Test
  void completionsThatCannotBeWrittenAreRecorded() {
    pair.connect();
    pair.left.must(HcrCommand.HW2SW_CQ, 0, pair.a.cq.number);
    pair.a.write(target, 0, new Piece(source, 0, 8));
    assertThat(pair.leftHca().faults())
        .containsExactly(
            "a completion for CQ %d is lost: there is no such CQ".formatted(pair.a.cq.number));
  }

  @Test
  void resetDuringTrafficDiscardsEverything() {
    pair.connect();
    pair.a.send(new Piece(source, 0, 8)); // no receive: it waits
    pair.left.bar0.writeInt(Bar.RESET_DOCUMENT, 1);
    pair.simulation.advance(Duration.ofSeconds(1));
    assertThat(pair.a.cq.hasNext()).isFalse();
    assertThat(pair.leftHca().icmPages()).isZero();
    assertThat(pair.left.command(HcrCommand.QUERY_QP, 0, pair.a.number)).isEqualTo(3);
    pair.left.bringUp();
    assertThat(pair.a.state()).isZero();
  }

  @Test
  void functionLevelResetDisablesBusMastering() {
    pair.connect();
    pair.left.function.reset();
    assertThat(pair.left.command(HcrCommand.QUERY_DEV_LIM, 0, 0)).isEqualTo(3);
    pair.left.function.configuration().busMaster(true);
    pair.left.bringUp();
  }
}
