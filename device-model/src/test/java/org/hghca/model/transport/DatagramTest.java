package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;
import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class DatagramTest {
  private static final int QUEUE_KEY = 0x1234;

  private final Line line = new Line(Service.UD);

  private static Consumer<SendWork> request(SendOperation operation, int position, int length) {
    return request -> {
      request.operation = operation;
      request.position = position;
      request.destinationMac = Line.B;
      request.sourceMac = Line.A;
      request.destinationQpn = Station.QPN;
      request.queueKey = QUEUE_KEY;
      request.pieces.add(0, Station.KEY, length);
    };
  }

  private void send(int position, int length) {
    line.a.post(request(SendOperation.SEND, position, length));
  }

  private void receive(int position, int length) {
    line.b.receive(position, 4096, length);
  }

  @ParameterizedTest
  @CsvSource({"SEND, 0, 0x64, 0x04", "SEND, 256, 0x64, 0x04", "SEND_IMM, 8, 0x65, 0x05"})
  void messageIsOnePacketAndArrivesBehindFortyBytes(
      SendOperation operation, int length, String opcode, String received) {
    receive(0, 40 + length);
    line.a.post(request(operation, 3, length).andThen(r -> r.immediate = 77));
    line.run();
    assertThat(line.seen)
        .containsExactly(new Line.Seen(Line.B, Integer.decode(opcode), 0, 0, length, false));
    assertThat(line.a.done)
        .containsExactly(new Station.Done(true, 3, WorkStatus.SUCCESS, 0, 0, length, false));
    assertThat(line.b.done)
        .containsExactly(
            new Station.Done(
                false,
                0,
                WorkStatus.SUCCESS,
                Integer.decode(received),
                operation == SendOperation.SEND ? 0 : 77,
                40 + length,
                false));
  }

  @Test
  void headerAndDataAreScatteredOverTheParts() {
    line.a.memory.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, 0x0102_0304_0506_0708L);
    line.b.receives.add(
        request -> {
          request.pieces.add(100, Station.KEY, 1);
          request.pieces.add(200, Station.KEY, 41);
          request.pieces.add(300, Station.KEY, 6);
        });
    send(0, 8);
    line.run();
    assertThat(line.b.memory.get(ValueLayout.JAVA_BYTE, 100)).isEqualTo((byte) 0x60);
    assertThat(line.b.memory.asSlice(239, 4).toArray(ValueLayout.JAVA_BYTE))
        .containsExactly(8, 7, 0, 0);
    assertThat(line.b.memory.asSlice(300, 7).toArray(ValueLayout.JAVA_BYTE))
        .containsExactly(6, 5, 4, 3, 2, 1, 0);
  }

  @Test
  void psnsAreCountedAndNotChecked() {
    line.a.nextSendPsn = 0xff_ffff;
    line.b.expectedPsn = 0x10;
    line.loses = number -> number == 1;
    for (int i = 0; i < 3; i++) {
      receive(i, 100);
      send(i, 8);
    }
    line.run();
    assertThat(line.psnsTo(Line.B)).containsExactly(0xff_ffff, 0, 1);
    assertThat(line.b.positions()).containsExactly(0, 1);
    assertThat(line.a.statuses()).containsOnly(WorkStatus.SUCCESS).hasSize(3);
  }

  @ParameterizedTest
  @CsvSource({
    "0x1234, 0x1234, true",
    "0x1235, 0x1234, false",
    "0, 0x1234, false",
    "0x7fffffff, 0x7fffffff, true"
  })
  void datagramWithAnotherQkeyIsDroppedAndCounted(String sent, String own, boolean right) {
    line.b.queueKey = Integer.decode(own);
    receive(0, 100);
    line.a.post(request(SendOperation.SEND, 0, 8).andThen(r -> r.queueKey = Integer.decode(sent)));
    line.run();
    assertThat(line.b.done).hasSize(right ? 1 : 0);
    assertThat(line.b.receives).hasSize(right ? 0 : 1);
    assertThat(line.b.transport.counters().drops.total()).isEqualTo(right ? 0 : 1);
    assertThat(line.b.transport.counters().drops.of(DropCause.QUEUE_KEY)).isEqualTo(right ? 0 : 1);
    assertThat(line.b.state).isEqualTo(QueuePairState.RTS);
    assertThat(line.a.statuses()).containsExactly(WorkStatus.SUCCESS);
  }

  @Test
  void highBitOfTheQkeySelectsTheSendersOwn() {
    line.a.queueKey = 0x8765_4321;
    line.b.queueKey = 0x8765_4321;
    receive(0, 100);
    line.a.post(request(SendOperation.SEND, 0, 8).andThen(r -> r.queueKey = 0x8000_1234));
    line.run();
    assertThat(line.b.statuses()).containsExactly(WorkStatus.SUCCESS);
  }

  @Test
  void datagramWithoutAReceiveIsDropped() {
    send(0, 8);
    line.run();
    receive(0, 100);
    send(1, 9);
    line.run();
    assertThat(line.b.done.stream().map(Station.Done::length)).containsExactly(49L);
    assertThat(line.b.transport.counters().drops.total()).isEqualTo(1);
    assertThat(line.b.transport.counters().drops.of(DropCause.QUEUE_KEY)).isZero();
  }

  @ParameterizedTest
  @CsvSource({"0", "39", "47"})
  void receiveThatIsTooSmallFailsAndLeadsToErr(int length) {
    receive(0, length);
    receive(1, 100);
    send(0, 8);
    line.run();
    assertThat(line.b.positions()).containsExactly(0, 1);
    assertThat(line.b.statuses()).containsExactly(WorkStatus.LOCAL_LENGTH, WorkStatus.FLUSHED);
    assertThat(line.b.state).isEqualTo(QueuePairState.ERR);
    assertThat(line.a.state).isEqualTo(QueuePairState.RTS);
  }

  /** The bad part holds the header, or only the data. */
  @ParameterizedTest
  @CsvSource({"99, 7", "7, 99"})
  void receiveWithoutAValidKeyFailsAndLeadsToErr(int first, int second) {
    line.b.receives.add(
        request -> {
          request.pieces.add(0, first, 40);
          request.pieces.add(100, second, 100);
        });
    send(0, 8);
    line.run();
    assertThat(line.b.statuses()).containsExactly(WorkStatus.LOCAL_PROTECTION);
    assertThat(line.b.state).isEqualTo(QueuePairState.ERR);
  }

  @ParameterizedTest
  @EnumSource(
      names = {"SEND", "SEND_IMM"},
      mode = EnumSource.Mode.EXCLUDE)
  void operationsOtherThanSendsAreOperationErrors(SendOperation operation) {
    line.a.post(request(operation, 0, 8));
    line.run();
    assertThat(line.seen).isEmpty();
    assertThat(line.a.statuses()).containsExactly(WorkStatus.LOCAL_OPERATION);
    assertThat(line.a.state).isEqualTo(QueuePairState.SQE);
  }

  @Test
  void messageLongerThanTheMtuIsALengthErrorAndSqe() {
    send(0, 257);
    send(1, 8);
    line.run();
    send(2, 8);
    line.run();
    assertThat(line.seen).isEmpty();
    assertThat(line.a.positions()).containsExactly(0, 1, 2);
    assertThat(line.a.statuses())
        .containsExactly(WorkStatus.LOCAL_LENGTH, WorkStatus.FLUSHED, WorkStatus.FLUSHED);
    assertThat(line.a.state).isEqualTo(QueuePairState.SQE);
    line.a.state = QueuePairState.RTS;
    line.a.transport.modified(Station.QPN, QueuePairState.RTS);
    receive(0, 300);
    send(3, 256);
    line.run();
    assertThat(line.a.statuses()).last().isEqualTo(WorkStatus.SUCCESS);
    assertThat(line.b.statuses()).containsExactly(WorkStatus.SUCCESS);
  }

  @Test
  void postedRequestsWaitInSqd() {
    line.a.state = QueuePairState.SQD;
    receive(0, 100);
    send(0, 8);
    line.run();
    assertThat(line.a.done).isEmpty();
    line.a.state = QueuePairState.RTS;
    line.a.transport.modified(Station.QPN, QueuePairState.RTS);
    line.run();
    assertThat(line.a.statuses()).containsExactly(WorkStatus.SUCCESS);
    assertThat(line.b.statuses()).containsExactly(WorkStatus.SUCCESS);
  }

  @ParameterizedTest
  @CsvSource({
    "0x60, 256", // the first of several
    "0x62, 8",
    "0x6a, 8", // a WRITE
    "0x71, 0", // an acknowledgement
    "0x64, 257", // longer than the MTU
    "0x04, 8", // a reliable connection's
    "0x24, 8" // an unreliable connection's
  })
  void packetsThatAreNoDatagramsAreDropped(String opcode, int length) {
    receive(0, 4096);
    Packet packet = line.pool.take();
    packet.destinationQpn = Station.QPN;
    packet.opcode = Integer.decode(opcode);
    packet.queueKey = QUEUE_KEY;
    packet.length = length;
    line.b.transport.receive(packet);
    assertThat(line.b.done).isEmpty();
    assertThat(line.b.receives).hasSize(1);
    assertThat(line.b.transport.counters().drops.total()).isEqualTo(1);
  }

  @Test
  void senderMayRequestAnEvent() {
    receive(0, 100);
    line.a.post(request(SendOperation.SEND, 0, 8).andThen(r -> r.solicited = true));
    line.run();
    assertThat(line.b.done.getFirst().solicited()).isTrue();
  }
}
