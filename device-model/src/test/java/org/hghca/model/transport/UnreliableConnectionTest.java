package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.Consumer;
import org.hghca.wire.Packet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class UnreliableConnectionTest {
  private static final int MTU = 256;
  private static final long TARGET = 1 << 16;

  private final Line line = new Line(Service.UC);

  private static Consumer<SendWork> request(SendOperation operation, int position, int length) {
    return Station.request(operation, position, 0, TARGET, length)
        .andThen(r -> r.immediate = 1000 + position);
  }

  private void send(int position, int length) {
    line.a.post(request(SendOperation.SEND, position, length));
  }

  private void receive(int position, int length) {
    line.b.receive(position, TARGET, length);
  }

  private static Station.Done received(int position, int operation, int imm, long length) {
    return new Station.Done(false, position, WorkStatus.SUCCESS, operation, imm, length, false);
  }

  private List<Integer> opcodes() {
    return line.seen.stream().map(Line.Seen::opcode).toList();
  }

  private void fill(int length) {
    for (int i = 0; i < length; i++) {
      line.a.memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 + 1));
    }
  }

  private boolean hasArrived(int length) {
    return line.a.memory.asSlice(0, length).mismatch(line.b.memory.asSlice(TARGET, length)) < 0;
  }

  @ParameterizedTest
  @CsvSource({
    "SEND, 0, 0x24, 0x04",
    "SEND, 256, 0x24, 0x04",
    "SEND, 700, 0x20 0x21 0x22, 0x02",
    "SEND_IMM, 8, 0x25, 0x05",
    "SEND_IMM, 700, 0x20 0x21 0x23, 0x03",
    "WRITE_IMM, 8, 0x2b, 0x0b",
    "WRITE_IMM, 700, 0x26 0x27 0x29, 0x09"
  })
  void messagesArriveByOpcodesOfTheService(
      SendOperation operation, int length, String opcodes, String last) {
    fill(length);
    receive(0, 700);
    line.a.post(request(operation, 5, length));
    line.run();
    assertThat(opcodes())
        .isEqualTo(List.of(opcodes.split(" ")).stream().map(Integer::decode).toList());
    assertThat(line.a.done)
        .containsExactly(new Station.Done(true, 5, WorkStatus.SUCCESS, 0, 0, length, false));
    int immediate = operation == SendOperation.SEND ? 0 : 1005;
    assertThat(line.b.done).containsExactly(received(0, Integer.decode(last), immediate, length));
    assertThat(hasArrived(length)).isTrue();
  }

  @Test
  void writeArrivesAndConsumesNoReceive() {
    fill(600);
    receive(0, 700);
    line.a.post(request(SendOperation.WRITE, 0, 600));
    line.run();
    assertThat(opcodes()).containsExactly(0x26, 0x27, 0x28);
    assertThat(hasArrived(600)).isTrue();
    assertThat(line.b.done).isEmpty();
    assertThat(line.b.receives).hasSize(1);
  }

  @Test
  void sendCompletesWithItsLastPacketAlsoIfItIsLost() {
    line.loses = number -> true;
    send(0, 700);
    send(1, 8);
    line.run();
    assertThat(line.psnsTo(Line.B)).containsExactly(0, 1, 2, 3);
    assertThat(line.a.positions()).containsExactly(0, 1);
    assertThat(line.a.statuses()).containsOnly(WorkStatus.SUCCESS);
    assertThat(line.pass()).isFalse();
  }

  @Test
  void psnsWrapAround() {
    line.a.nextSendPsn = 0xff_fffe;
    line.b.expectedPsn = 0xff_fffe;
    fill(5 * MTU);
    receive(0, 5 * MTU);
    send(0, 5 * MTU);
    line.run();
    assertThat(line.psnsTo(Line.B)).containsExactly(0xff_fffe, 0xff_ffff, 0, 1, 2);
    assertThat(line.b.done).containsExactly(received(0, 0x02, 0, 5 * MTU));
    assertThat(hasArrived(5 * MTU)).isTrue();
    assertThat(line.a.nextSendPsn).isEqualTo(3);
    assertThat(line.b.expectedPsn).isEqualTo(3);
  }

  /** Packets 0 to 4 are the first message, 5 to 7 the second one. */
  @ParameterizedTest
  @CsvSource({"0", "1", "3", "4"})
  void messageWithAGapIsDroppedAndItsReceiveServesTheNextOne(int lost) {
    line.loses = number -> number == lost;
    receive(0, 5 * MTU);
    send(0, 5 * MTU);
    send(1, 700);
    line.run();
    assertThat(line.b.done).containsExactly(received(0, 0x02, 0, 700));
    assertThat(line.a.statuses()).containsExactly(WorkStatus.SUCCESS, WorkStatus.SUCCESS);
    assertThat(line.b.expectedPsn).isEqualTo(8);
    assertThat(line.b.state).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void firstPacketOfAMessageSetsTheExpectedPsn() {
    line.b.expectedPsn = 0x55_5555;
    receive(0, 700);
    send(0, 700);
    line.run();
    assertThat(line.b.done).containsExactly(received(0, 0x02, 0, 700));
    assertThat(line.b.expectedPsn).isEqualTo(3);
  }

  @Test
  void receiveOfABrokenMessageIsNotUsedForAWrite() {
    line.loses = number -> number == 2; // the last packet of the send
    receive(0, 700);
    send(0, 700);
    line.a.post(request(SendOperation.WRITE, 1, 8));
    line.run();
    assertThat(line.b.done).isEmpty();
    line.a.post(request(SendOperation.WRITE_IMM, 2, 8));
    line.run();
    assertThat(line.b.done).containsExactly(received(0, 0x0b, 1002, 8));
  }

  @ParameterizedTest
  @CsvSource({
    "0x21, 256", // a middle without a first
    "0x22, 8",
    "0x28, 8",
    "0x20, 8", // a first that is not full
    "0x24, 257", // longer than the MTU
    "0x2c, 0", // a READ
    "0x33, 0", // an atomic
    "0x31, 0", // an acknowledgement
    "0x3f, 0",
    "0x04, 8", // a reliable connection's
    "0x64, 8" // a datagram
  })
  void packetsOutOfSequenceAreDropped(String opcode, int length) {
    receive(0, 4096);
    Packet packet = line.pool.take();
    packet.destinationMac = Line.B;
    packet.destinationQpn = Station.QPN;
    packet.opcode = Integer.decode(opcode);
    packet.psn = 0;
    packet.length = length;
    line.b.transport.receive(packet);
    line.run();
    assertThat(line.seen).isEmpty();
    assertThat(line.b.done).isEmpty();
    assertThat(line.b.state).isEqualTo(QueuePairState.RTS);
    assertThat(line.b.transport.counters().drops.total()).isEqualTo(1);
    send(0, 8);
    line.run();
    assertThat(line.b.done).containsExactly(received(0, 0x04, 0, 8));
  }

  @Test
  void messageWithoutAReceiveIsDropped() {
    send(0, 700);
    line.a.post(request(SendOperation.WRITE_IMM, 1, 8));
    line.run();
    receive(0, 700);
    send(2, 300);
    line.run();
    assertThat(line.a.statuses()).containsOnly(WorkStatus.SUCCESS).hasSize(3);
    assertThat(line.b.done).containsExactly(received(0, 0x02, 0, 300));
    assertThat(line.b.transport.counters().drops.total()).isEqualTo(4);
  }

  @Test
  void receivePostedInTheMiddleOfAMessageIsNotForIt() {
    line.a.post(request(SendOperation.SEND, 0, 100 * MTU));
    line.a.step(0);
    line.b.step(0); // 64 of 100 packets
    receive(0, 100 * MTU);
    line.run();
    assertThat(line.b.done).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(names = {"WRITE", "WRITE_IMM"})
  void writeThatIsNotEnabledIsDropped(SendOperation operation) {
    fill(600);
    line.b.remoteWrite = false;
    receive(0, 700);
    line.a.post(request(operation, 0, 600));
    line.run();
    nothingHappened();
  }

  @ParameterizedTest
  @CsvSource({"99, 65536", "7, 1048476", "7, -1"})
  void writeToInvalidMemoryIsDroppedAsAWhole(int key, long address) {
    fill(600);
    receive(0, 700);
    line.a.post(
        request(SendOperation.WRITE_IMM, 0, 600)
            .andThen(
                r -> {
                  r.remoteKey = key;
                  r.remoteAddress = address;
                }));
    line.run();
    nothingHappened();
  }

  private void nothingHappened() {
    assertThat(line.a.statuses()).containsExactly(WorkStatus.SUCCESS);
    assertThat(line.b.done).isEmpty();
    assertThat(line.b.state).isEqualTo(QueuePairState.RTS);
    assertThat(line.b.memory.mismatch(new Line(Service.UC).b.memory)).isEqualTo(-1);
    send(1, 8);
    line.run();
    assertThat(line.b.done).containsExactly(received(0, 0x04, 0, 8));
  }

  @Test
  void receiveThatIsTooSmallFailsAndLeadsToErr() {
    receive(0, 299);
    receive(1, 400);
    send(0, 300);
    send(1, 8);
    line.run();
    assertThat(line.b.positions()).containsExactly(0, 1);
    assertThat(line.b.statuses()).containsExactly(WorkStatus.LOCAL_LENGTH, WorkStatus.FLUSHED);
    assertThat(line.b.state).isEqualTo(QueuePairState.ERR);
    assertThat(line.a.statuses()).containsExactly(WorkStatus.SUCCESS, WorkStatus.SUCCESS);
    assertThat(line.a.state).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void receiveWithoutAValidKeyFailsAndLeadsToErr() {
    line.b.receives.add(request -> request.pieces.add(0, 99, 100));
    send(0, 8);
    line.run();
    assertThat(line.b.statuses()).containsExactly(WorkStatus.LOCAL_PROTECTION);
    assertThat(line.b.state).isEqualTo(QueuePairState.ERR);
  }

  @ParameterizedTest
  @EnumSource(names = {"READ", "COMPARE_SWAP", "FETCH_ADD"})
  void operationsWithAResponseAreOperationErrors(SendOperation operation) {
    line.a.post(request(operation, 0, 8));
    line.run();
    assertThat(line.seen).isEmpty();
    assertThat(line.a.statuses()).containsExactly(WorkStatus.LOCAL_OPERATION);
    assertThat(line.a.state).isEqualTo(QueuePairState.SQE);
  }

  @Test
  void sendThatCannotBeExecutedTakesTheSendQueueToSqe() {
    receive(0, 100);
    send(0, 8);
    line.a.post(request(SendOperation.SEND, 1, 8).andThen(r -> r.pieces.add(0, 99, 8)));
    send(2, 8);
    send(3, 8);
    line.run();
    assertThat(line.a.state).isEqualTo(QueuePairState.SQE);
    send(4, 8);
    line.run();
    assertThat(line.a.positions()).containsExactly(0, 1, 2, 3, 4);
    assertThat(line.a.statuses())
        .containsExactly(
            WorkStatus.SUCCESS,
            WorkStatus.LOCAL_PROTECTION,
            WorkStatus.FLUSHED,
            WorkStatus.FLUSHED,
            WorkStatus.FLUSHED);
    assertThat(line.seen).hasSize(1);
    line.a.done.clear();

    // Receives continue.
    line.a.receive(9, 0, 100);
    line.b.post(request(SendOperation.SEND, 0, 100));
    line.run();
    assertThat(line.a.done).containsExactly(received(9, 0x04, 0, 100));
    assertThat(line.a.state).isEqualTo(QueuePairState.SQE);

    // Software takes it back to RTS: sends continue.
    line.a.done.clear();
    line.a.state = QueuePairState.RTS;
    line.a.transport.modified(Station.QPN, QueuePairState.RTS);
    receive(1, 100);
    send(5, 8);
    line.run();
    assertThat(line.a.positions()).containsExactly(5);
    assertThat(line.a.statuses()).containsExactly(WorkStatus.SUCCESS);
    assertThat(line.b.done.getLast()).isEqualTo(received(1, 0x04, 0, 8));
  }

  @Test
  void memoryUnmappedDuringAMessageIsAProtectionErrorAndBreaksIt() {
    receive(0, 100 * MTU);
    line.a.post(request(SendOperation.SEND, 0, 100 * MTU));
    line.a.step(0); // 64 of 100 packets
    line.a.memoryGone = true;
    line.run();
    assertThat(line.a.statuses()).containsExactly(WorkStatus.LOCAL_PROTECTION);
    assertThat(line.a.state).isEqualTo(QueuePairState.SQE);
    assertThat(line.b.done).isEmpty();
    assertThat(line.b.state).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void messageInFlightIsFinishedInSqdAndPostedOnesWait() {
    receive(0, 100 * MTU);
    receive(1, 8);
    send(0, 100 * MTU);
    line.a.step(0); // 64 of 100 packets
    line.a.state = QueuePairState.SQD;
    line.a.transport.modified(Station.QPN, QueuePairState.SQD);
    send(1, 8);
    line.run();
    assertThat(line.a.positions()).containsExactly(0);
    assertThat(line.b.done).containsExactly(received(0, 0x02, 0, 100 * MTU));
    line.a.state = QueuePairState.RTS;
    line.a.transport.modified(Station.QPN, QueuePairState.RTS);
    line.run();
    assertThat(line.a.positions()).containsExactly(0, 1);
    assertThat(line.b.done).hasSize(2);
  }

  @Test
  void errFlushesBothQueuesInOrder() {
    for (int i = 0; i < 2; i++) {
      int position = 10 + i;
      line.a.receives.add(request -> request.position = position);
    }
    send(0, 100 * MTU);
    send(1, 8);
    line.a.step(0); // 64 of 100 packets
    line.a.state = QueuePairState.ERR;
    line.a.transport.modified(Station.QPN, QueuePairState.ERR);
    assertThat(line.a.positions()).containsExactly(0, 1, 10, 11);
    assertThat(line.a.statuses()).containsOnly(WorkStatus.FLUSHED);
    send(2, 8);
    assertThat(line.a.positions()).containsExactly(0, 1, 10, 11, 2);
    line.seen.clear();
    line.run();
    assertThat(line.seen).isEmpty();
  }

  @Test
  void errFlushesTheReceiveOfABrokenMessageFirst() {
    line.loses = number -> number == 2; // the last packet
    receive(0, 700);
    receive(1, 700);
    send(0, 700);
    line.run();
    line.b.state = QueuePairState.ERR;
    line.b.transport.modified(Station.QPN, QueuePairState.ERR);
    assertThat(line.b.positions()).containsExactly(0, 1);
    assertThat(line.b.statuses()).containsOnly(WorkStatus.FLUSHED);
  }

  @Test
  void lastPacketCarriesTheSendersRequestForAnEvent() {
    receive(0, 700);
    receive(1, 700);
    line.a.post(request(SendOperation.SEND, 0, 700).andThen(r -> r.solicited = true));
    line.a.post(request(SendOperation.SEND, 1, 700));
    line.run();
    assertThat(line.b.done.stream().map(Station.Done::solicited)).containsExactly(true, false);
  }
}
