package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Consumer;
import org.hghca.wire.Packet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReliableConnectionTest {
  private static final int SEND_FIRST = 0x00;
  private static final int SEND_MIDDLE = 0x01;
  private static final int SEND_LAST = 0x02;
  private static final int SEND_ONLY = 0x04;

  private final Line line = new Line();

  private static Consumer<SendWork> request(SendOperation operation, int position, int length) {
    return Station.request(operation, position, 0, 0, length);
  }

  private void send(int position, int length) {
    line.a.post(request(SendOperation.SEND, position, length));
  }

  private void write(int position, int length) {
    line.a.post(request(SendOperation.WRITE, position, length));
  }

  private void read(int position, int length) {
    line.a.post(request(SendOperation.READ, position, length));
  }

  private void receive(int position, int length) {
    line.b.receive(position, 0, length);
  }

  private List<Integer> opcodesTo(long mac) {
    return line.seen.stream().filter(p -> p.to() == mac).map(Line.Seen::opcode).toList();
  }

  @ParameterizedTest
  @CsvSource({"0,1", "1,1", "255,1", "256,1", "257,2", "512,2", "513,3", "1280,5"})
  void messageHasOnePacketPerStartedMtu(int length, int packets) {
    receive(0, 2000);
    send(0, length);
    line.run();
    assertThat(opcodesTo(Line.B)).hasSize(packets);
    assertThat(line.a.nextSendPsn).isEqualTo(packets);
    assertThat(line.a.oldestUnackedPsn).isEqualTo(packets);
    assertThat(line.b.expectedPsn).isEqualTo(packets);
    assertThat(line.b.done.get(0).length()).isEqualTo(length);
  }

  @Test
  void packetsOfAMessageAreFirstMiddleAndLast() {
    receive(0, 1000);
    receive(1, 1000);
    send(0, 700);
    send(1, 256);
    line.run();
    assertThat(opcodesTo(Line.B)).containsExactly(SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY);
    assertThat(line.psnsTo(Line.B)).containsExactly(0, 1, 2, 3);
    assertThat(line.seen.stream().filter(p -> p.to() == Line.B).map(Line.Seen::length))
        .containsExactly(256, 256, 188, 256);
  }

  @Test
  void oneAcknowledgementCoversAllReceivedPackets() {
    for (int i = 0; i < 10; i++) {
      write(i, 8);
    }
    line.run();
    assertThat(line.psnsTo(Line.A)).containsExactly(9);
    assertThat(line.syndromesTo(Line.A)).containsExactly(0x1f);
    assertThat(line.a.positions()).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  }

  @Test
  void lostPacketIsRetransmittedAfterTheTimeOut() {
    line.a.ackTimeout = 10; // 4.096 us x 2^10
    line.loses = number -> number == 0;
    write(0, 8);
    line.run();
    assertThat(line.a.transport.nextDeadline()).isEqualTo(4_194_304);
    line.now = 4_194_303;
    line.run();
    assertThat(line.psnsTo(Line.B)).containsExactly(0);
    line.now = 4_194_304;
    line.run();
    assertThat(line.psnsTo(Line.B)).containsExactly(0, 0);
    assertThat(line.a.statuses()).containsExactly(WorkStatus.SUCCESS);
    assertThat(line.a.transport.nextDeadline()).isEqualTo(Long.MAX_VALUE);
    assertThat(line.a.transport.counters().timeouts).isEqualTo(1);
  }

  @Test
  void requestWithoutAnswerFailsAfterAllRetriesAndTheRestIsFlushed() {
    line.a.ackTimeout = 1; // 8.192 us
    line.a.retryCount = 3;
    line.a.receiveQueueLength = 0;
    line.loses = number -> true;
    write(0, 8);
    write(1, 8);
    while (line.a.done.isEmpty()) {
      assertThat(line.pass()).isTrue();
    }
    assertThat(line.now).isEqualTo(4 * 8_192);
    assertThat(line.psnsTo(Line.B)).containsExactly(0, 1, 0, 1, 0, 1, 0, 1);
    assertThat(line.a.statuses()).containsExactly(WorkStatus.RETRIES_EXCEEDED, WorkStatus.FLUSHED);
    assertThat(line.a.state).isEqualTo(QueuePairState.ERR);
    assertThat(line.pass()).isFalse();
  }

  @Test
  void progressRestoresTheRetries() {
    line.a.ackTimeout = 1;
    line.a.retryCount = 1;
    line.loses = number -> number == 0 || number == 3;
    write(0, 8);
    while (line.pass()) {
      // until all is acknowledged
    }
    write(1, 8);
    while (line.pass()) {
      // once more
    }
    assertThat(line.a.statuses()).containsExactly(WorkStatus.SUCCESS, WorkStatus.SUCCESS);
  }

  @Test
  void timeOutZeroWaitsIndefinitely() {
    line.a.ackTimeout = 0;
    line.loses = number -> true;
    write(0, 8);
    line.run();
    assertThat(line.pass()).isFalse();
    assertThat(line.a.done).isEmpty();
  }

  @Test
  void gapIsAnsweredByOneSequenceNakAndRetransmittedAtOnce() {
    line.loses = number -> number == 1;
    receive(0, 2000);
    send(0, 1280);
    line.run();
    assertThat(line.psnsTo(Line.B)).containsExactly(0, 1, 2, 3, 4, 1, 2, 3, 4);
    assertThat(line.syndromesTo(Line.A)).containsExactly(0x60, 0x1f);
    assertThat(line.psnsTo(Line.A)).containsExactly(1, 4);
    assertThat(line.now).isZero();
    assertThat(line.a.statuses()).containsExactly(WorkStatus.SUCCESS);
    assertThat(line.b.transport.counters().naksSent).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({
    "0,655360",
    "1,10",
    "2,20",
    "3,30",
    "4,40",
    "5,60",
    "6,80",
    "7,120",
    "8,160",
    "9,240",
    "10,320",
    "11,480",
    "12,640",
    "13,960",
    "14,1280",
    "15,1920",
    "16,2560",
    "17,3840",
    "18,5120",
    "19,7680",
    "20,10240",
    "21,15360",
    "22,20480",
    "23,30720",
    "24,40960",
    "25,61440",
    "26,81920",
    "27,122880",
    "28,163840",
    "29,245760",
    "30,327680",
    "31,491520"
  })
  void aReceiverThatIsNotReadyIsAskedAgainAfterItsTimer(int code, long micros) {
    line.b.minRnrTimer = code;
    send(0, 8);
    line.run();
    assertThat(line.syndromesTo(Line.A)).containsExactly(0x20 | code);
    assertThat(line.a.transport.nextDeadline()).isEqualTo(micros * 1000);
    receive(0, 8);
    line.now = micros * 1000 - 1;
    line.run();
    assertThat(line.a.done).isEmpty();
    line.now = micros * 1000;
    line.run();
    assertThat(line.a.statuses()).containsExactly(WorkStatus.SUCCESS);
    assertThat(line.b.statuses()).containsExactly(WorkStatus.SUCCESS);
  }

  @Test
  void rnrRetriesAreExhausted() {
    line.a.rnrRetry = 2;
    line.b.minRnrTimer = 5; // 60 us
    send(0, 8);
    write(1, 8);
    while (line.a.done.isEmpty()) {
      assertThat(line.pass()).isTrue();
    }
    assertThat(line.now).isEqualTo(120_000);
    assertThat(line.a.statuses())
        .containsExactly(WorkStatus.RECEIVER_NOT_READY, WorkStatus.FLUSHED);
    assertThat(line.b.transport.counters().rnrNaksSent).isEqualTo(3);
  }

  @Test
  void rnrRetrySevenIsUnlimited() {
    send(0, 8);
    for (int i = 0; i < 1000; i++) {
      assertThat(line.pass()).isTrue();
    }
    assertThat(line.a.done).isEmpty();
    receive(0, 8);
    line.pass();
    assertThat(line.a.statuses()).containsExactly(WorkStatus.SUCCESS);
  }

  @Test
  void packetsSentBehindAnRnrNakAreNotAnsweredTwice() {
    send(0, 8);
    send(1, 8);
    send(2, 8);
    line.run();
    assertThat(line.syndromesTo(Line.A)).hasSize(1);
    assertThat(line.psnsTo(Line.A)).containsExactly(0);
  }

  @Test
  void lostReadResponseIsRequestedAgainFromThere() {
    // Request 0, responses 1 to 4: the third one is lost.
    line.loses = number -> number == 3;
    read(0, 1024);
    line.run();
    assertThat(line.psnsTo(Line.B)).containsExactly(0, 2);
    assertThat(line.psnsTo(Line.A)).containsExactly(0, 1, 2, 3, 2, 3);
    assertThat(line.a.statuses()).containsExactly(WorkStatus.SUCCESS);
    assertThat(line.b.transport.counters().duplicates).isEqualTo(1);
    assertThat(line.b.expectedPsn).isEqualTo(4);
  }

  @Test
  void readResponsesAreFirstMiddleLastOrOnly() {
    read(0, 600);
    read(1, 256);
    line.run();
    assertThat(opcodesTo(Line.A)).containsExactly(0x0d, 0x0e, 0x0f, 0x10);
    assertThat(line.a.nextSendPsn).isEqualTo(4);
  }

  @Test
  void noMoreReadsAreInFlightThanAllowed() {
    line.a.maxReads = 2;
    line.loses = number -> opcodesTo(Line.B).size() <= 5 && line.seen.getLast().to() == Line.A;
    for (int i = 0; i < 5; i++) {
      read(i, 8);
    }
    line.run();
    assertThat(line.psnsTo(Line.B)).containsExactly(0, 1);
  }

  @Test
  void fencedRequestWaitsForTheReadsBeforeIt() {
    line.loses = number -> number == 1; // the response
    read(0, 8);
    line.a.post(
        request -> {
          request(SendOperation.WRITE, 1, 8).accept(request);
          request.fence = true;
        });
    line.run();
    assertThat(line.psnsTo(Line.B)).containsExactly(0);
    line.pass();
    assertThat(line.psnsTo(Line.B)).containsExactly(0, 0, 1);
    assertThat(line.a.positions()).containsExactly(0, 1);
  }

  @Test
  void requestThatCannotBeExecutedEndsAfterThoseBeforeIt() {
    line.loses = number -> number == 0;
    write(0, 8);
    line.a.post(
        request -> {
          request(SendOperation.WRITE, 1, 8).accept(request);
          request.pieces.add(0, 99, 8);
        });
    write(2, 8);
    line.run();
    assertThat(line.a.done).isEmpty();
    line.pass();
    assertThat(line.a.positions()).containsExactly(0, 1, 2);
    assertThat(line.a.statuses())
        .containsExactly(WorkStatus.SUCCESS, WorkStatus.LOCAL_PROTECTION, WorkStatus.FLUSHED);
  }

  @Test
  void memoryUnmappedDuringAReadIsARemoteOperationError() {
    line.b.memoryGone = true;
    read(0, 8);
    line.run();
    assertThat(line.a.statuses()).containsExactly(WorkStatus.REMOTE_OPERATION);
    assertThat(line.syndromesTo(Line.A)).containsExactly(0x63);
    assertThat(line.b.state).isEqualTo(QueuePairState.ERR);
  }

  @Test
  void repeatedRequestIsAcknowledgedAndNotExecutedAgain() {
    receive(0, 8);
    receive(1, 8);
    line.loses = number -> number == 1; // the acknowledgement
    send(0, 8);
    line.run();
    line.pass();
    assertThat(line.b.positions()).containsExactly(0);
    assertThat(line.a.statuses()).containsExactly(WorkStatus.SUCCESS);
    assertThat(line.b.transport.counters().duplicates).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({
    "1, 256", // a middle without a first
    "2, 8", // a last without a first
    "7, 256", "8, 8", "0, 8", // a first that is not full
    "4, 257", // longer than the MTU
    "18, 8", // an opcode that no requester sends
    "19, 8", // an atomic
    "31, 0"
  })
  void requestOutOfSequenceIsInvalid(int opcode, int length) {
    receive(0, 4096);
    Packet packet = line.pool.take();
    packet.destinationMac = Line.B;
    packet.destinationQpn = Station.QPN;
    packet.opcode = opcode;
    packet.psn = 0;
    packet.length = length;
    boolean isResponse = opcode == 18;
    line.b.transport.receive(packet);
    line.run();
    if (isResponse) {
      assertThat(line.b.state).isEqualTo(QueuePairState.RTS);
      assertThat(line.syndromesTo(Line.A)).isEmpty();
    } else {
      assertThat(line.syndromesTo(Line.A)).containsExactly(0x61);
      assertThat(line.b.state).isEqualTo(QueuePairState.ERR);
      assertThat(line.b.statuses()).containsExactly(WorkStatus.FLUSHED);
    }
  }

  @Test
  void packetsForUnknownQueuePairsAreCountedAndDropped() {
    Packet packet = line.pool.take();
    packet.destinationMac = Line.B;
    packet.destinationQpn = 77;
    line.b.transport.receive(packet);
    assertThat(line.b.transport.counters().drops.total()).isEqualTo(1);
  }

  @Test
  void strayAcknowledgementsChangeNothing() {
    write(0, 8);
    line.run();
    for (int psn : new int[] {0, 5, 0xff_ffff, 0x80_0000}) {
      for (int syndrome : new int[] {0x1f, 0x60, 0x62, 0x2c}) {
        Packet packet = line.pool.take();
        packet.destinationQpn = Station.QPN;
        packet.opcode = 0x11;
        packet.psn = psn;
        packet.syndrome = syndrome;
        line.a.transport.receive(packet);
      }
    }
    write(1, 8);
    line.run();
    assertThat(line.a.statuses()).containsExactly(WorkStatus.SUCCESS, WorkStatus.SUCCESS);
  }

  @Test
  void readResponseOfWrongLengthIsABadResponse() {
    line.loses = number -> number == 1;
    read(0, 100);
    line.run();
    Packet packet = line.pool.take();
    packet.destinationQpn = Station.QPN;
    packet.opcode = 0x10;
    packet.psn = 0;
    packet.length = 99;
    line.a.transport.receive(packet);
    assertThat(line.a.statuses()).containsExactly(WorkStatus.BAD_RESPONSE);
  }

  @Test
  void acknowledgementWaitsForTheReadsBeforeIt() {
    // More responses than are sent in one run.
    read(0, 100 * 256);
    write(1, 8);
    line.run();
    assertThat(line.psnsTo(Line.A)).hasSize(101).isSorted().last().isEqualTo(100);
    assertThat(line.a.transport.counters().retries).isZero();
    assertThat(line.a.positions()).containsExactly(0, 1);
  }

  @Test
  void responderThatSoftwareTakesToErrAnswersNoMore() {
    read(0, 100 * 256);
    line.a.step(0);
    line.b.step(0); // 64 of 100 responses
    line.b.state = QueuePairState.ERR;
    line.b.transport.modified(Station.QPN, QueuePairState.ERR);
    line.b.step(0);
    assertThat(line.psnsTo(Line.A)).hasSize(64);
  }
}
