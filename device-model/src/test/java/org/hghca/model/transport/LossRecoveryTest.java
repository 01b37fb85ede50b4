package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.List;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.junit.jupiter.api.Test;

/** A reliable connection with duplicate, late and reordered packets. */
class LossRecoveryTest {
  private static final int NAK_SEQUENCE = 0x60;

  private final Line line = new Line();

  private void post(SendOperation operation, int position, int length) {
    line.a.post(Station.request(operation, position, 0, 0, length));
  }

  private void receive(int position) {
    line.b.receive(position, 0, 64);
  }

  /** A request packet of 8 bytes, as the left station sends it. */
  private void lateRequest(int operation, int psn) {
    Packet packet = line.pool.take();
    packet.destinationQpn = Station.QPN;
    packet.opcode = operation;
    packet.psn = psn;
    packet.remoteAddress = 0;
    packet.remoteKey = Station.KEY;
    packet.dmaLength = 8;
    packet.length = operation == PacketOpcode.READ_REQUEST ? 0 : 8;
    packet.ackRequest = true;
    line.b.transport.receive(packet);
  }

  private void lateAcknowledge(int syndrome, int psn) {
    Packet packet = line.pool.take();
    packet.destinationQpn = Station.QPN;
    packet.opcode = PacketOpcode.ACKNOWLEDGE;
    packet.syndrome = syndrome;
    packet.psn = psn;
    line.a.transport.receive(packet);
  }

  /** The right station processes the arrived packets, but answers nothing yet. */
  private void arrive() {
    while (line.b.port.hasArrived()) {
      line.b.transport.receive(line.b.port.fetch());
    }
  }

  private void assertDone(int... positions) {
    assertThat(line.a.done).extracting(Station.Done::status).containsOnly(WorkStatus.SUCCESS);
    assertThat(line.a.done.stream().mapToInt(Station.Done::position).toArray())
        .containsExactly(positions);
    assertThat(line.now).isZero();
    assertThat(line.a.transport.nextDeadline()).isEqualTo(Long.MAX_VALUE);
    assertThat(line.b.state).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void lateDuplicateOfAReadDoesNotCountAgainstTheLimit() {
    post(SendOperation.READ, 0, 8);
    line.run();
    // As many as the responder serves at a time.
    for (int i = 1; i <= 4; i++) {
      post(SendOperation.READ, i, 8);
    }
    line.a.step(0);
    lateRequest(PacketOpcode.READ_REQUEST, 0);
    line.run();
    assertDone(0, 1, 2, 3, 4);
  }

  @Test
  void lateDuplicateOfAReadKeepsTheAnswersOfLaterReads() {
    post(SendOperation.READ, 0, 8);
    line.run();
    post(SendOperation.READ, 1, 300);
    post(SendOperation.READ, 2, 600);
    line.a.step(0);
    arrive();
    lateRequest(PacketOpcode.READ_REQUEST, 0);
    line.run();
    assertDone(0, 1, 2);
    assertThat(line.psnsTo(Line.A)).containsExactly(0, 0, 1, 2, 3, 4, 5);
    assertThat(line.a.transport.counters().retries).isZero();
  }

  /**
   * A READ of one packet does not wait for its responder's turn, if nothing is to be sent first.
   */
  @Test
  void shortReadsAreAnsweredAtOnceUnlessAnAnswerWaits() {
    post(SendOperation.READ, 0, 8);
    line.a.step(0);
    arrive();
    assertThat(line.psnsTo(Line.A)).containsExactly(0);

    post(SendOperation.WRITE, 1, 8);
    post(SendOperation.READ, 2, 8);
    line.a.step(0);
    arrive();
    assertThat(line.psnsTo(Line.A)).as("the acknowledgement goes first").containsExactly(0);

    line.run();
    assertDone(0, 1, 2);
    assertThat(line.psnsTo(Line.A)).containsExactly(0, 1, 2);
  }

  /** It fails as one that waits for its turn. */
  @Test
  void shortReadOfMemoryThatIsGoneIsRefusedOnce() {
    line.b.memoryGone = true;
    post(SendOperation.READ, 0, 8);
    line.run();
    assertThat(line.psnsTo(Line.A)).containsExactly(0);
    assertThat(line.syndromesTo(Line.A)).containsExactly(0x63);
    assertThat(line.b.state).isEqualTo(QueuePairState.ERR);
  }

  @Test
  void partlyAnsweredReadContinuesBehindALateDuplicate() {
    post(SendOperation.READ, 0, 8);
    line.run();
    post(SendOperation.READ, 1, 10 * 256);
    post(SendOperation.READ, 2, 100 * 256);
    line.a.step(0);
    line.b.step(0); // 64 responses: 54 of 100
    lateRequest(PacketOpcode.READ_REQUEST, 0);
    line.run();
    assertDone(0, 1, 2);
    List<Integer> opcodes =
        line.seen.stream().filter(p -> p.to() == Line.A).map(Line.Seen::opcode).toList();
    assertThat(opcodes).hasSize(1 + 110 + 1);
    assertThat(opcodes.get(1 + 64)).isEqualTo(PacketOpcode.READ_RESPONSE_ONLY);
    assertThat(opcodes.get(1 + 64 + 1)).isEqualTo(PacketOpcode.READ_RESPONSE_MIDDLE);
    assertThat(opcodes).endsWith(PacketOpcode.READ_RESPONSE_LAST);
  }

  @Test
  void readRequestedAgainFromTheMiddleIsAnsweredOnceFromThere() {
    post(SendOperation.READ, 0, 100 * 256);
    line.a.step(0);
    line.b.step(0); // 64 of 100 responses
    Packet packet = line.pool.take();
    packet.destinationQpn = Station.QPN;
    packet.opcode = PacketOpcode.READ_REQUEST;
    packet.psn = 90;
    packet.remoteAddress = 90 * 256;
    packet.remoteKey = Station.KEY;
    packet.dmaLength = 10 * 256;
    line.b.transport.receive(packet);
    line.b.step(0);
    // The second request covers the unsent part of the first one.
    assertThat(line.psnsTo(Line.A)).hasSize(64 + 10).endsWith(98, 99);
  }

  @Test
  void lateDuplicateOfAReadOfUnmappedMemoryIsIgnored() {
    post(SendOperation.READ, 0, 8);
    line.run();
    lateRequest(PacketOpcode.READ_REQUEST, 0);
    line.b.memoryGone = true;
    line.run();
    line.b.memoryGone = false;
    line.b.memoryDenied = true;
    lateRequest(PacketOpcode.READ_REQUEST, 0);
    line.run();
    line.b.memoryDenied = false;
    post(SendOperation.WRITE, 1, 8);
    line.run();
    assertDone(0, 1);
  }

  @Test
  void readThatFailsBehindARefusedRequestIsReportedOnce() {
    post(SendOperation.READ, 0, 300);
    line.a.step(0);
    arrive();
    line.b.memoryDenied = true;
    lateRequest(PacketOpcode.WRITE_ONLY, 2);
    line.run();
    assertThat(line.psnsTo(Line.A)).containsExactly(0);
    assertThat(line.syndromesTo(Line.A)).containsExactly(0x62);
    assertThat(line.b.events).containsExactly(QueuePairEvent.ACCESS_VIOLATION);
    assertThat(line.b.state).isEqualTo(QueuePairState.ERR);
  }

  @Test
  void duplicateOfAWriteIsAcknowledgedAndNotExecutedAgain() {
    post(SendOperation.WRITE, 0, 8);
    line.run();
    line.b.memory.set(ValueLayout.JAVA_LONG, 0, 0x1234_5678_9abc_def0L);
    lateRequest(PacketOpcode.WRITE_ONLY, 0);
    line.run();
    assertThat(line.b.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0x1234_5678_9abc_def0L);
    assertThat(line.syndromesTo(Line.A)).containsExactly(0x1f, 0x1f);
    assertThat(line.psnsTo(Line.A)).containsExactly(0, 0);
    assertDone(0);
  }

  @Test
  void duplicateDoesNotCancelAPendingNak() {
    post(SendOperation.WRITE, 0, 8);
    line.run();
    line.loses = number -> number == 2;
    post(SendOperation.WRITE, 1, 8);
    post(SendOperation.WRITE, 2, 8);
    line.a.step(0);
    arrive();
    lateRequest(PacketOpcode.WRITE_ONLY, 0);
    line.run();
    assertDone(0, 1, 2);
    assertThat(line.syndromesTo(Line.A)).containsExactly(0x1f, NAK_SEQUENCE, 0x1f);
    assertThat(line.a.transport.counters().timeouts).isZero();
  }

  @Test
  void retransmittedPacketReplacesTheNakForIt() {
    post(SendOperation.WRITE, 0, 8);
    post(SendOperation.WRITE, 1, 8);
    line.a.step(0);
    Packet first = line.b.port.fetch();
    arrive();
    line.b.transport.receive(first);
    line.b.step(0);
    assertThat(line.syndromesTo(Line.A)).containsExactly(0x1f);
    assertThat(line.psnsTo(Line.A)).containsExactly(0);
  }

  @Test
  void gapIsAnsweredByOneNak() {
    line.loses = number -> number == 0;
    for (int i = 0; i < 4; i++) {
      post(SendOperation.WRITE, i, 8);
    }
    line.a.step(0);
    line.b.step(0);
    lateRequest(PacketOpcode.WRITE_ONLY, 2);
    lateRequest(PacketOpcode.WRITE_ONLY, 5);
    line.b.step(0);
    assertThat(line.syndromesTo(Line.A)).containsExactly(NAK_SEQUENCE);
    line.run();
    assertDone(0, 1, 2, 3);
  }

  @Test
  void repeatedSequenceNakCostsOneRetry() {
    line.a.retryCount = 1;
    line.loses = number -> number == 0;
    post(SendOperation.WRITE, 0, 8);
    post(SendOperation.WRITE, 1, 8);
    line.a.step(0);
    line.b.step(0);
    lateAcknowledge(NAK_SEQUENCE, 0);
    line.run();
    assertDone(0, 1);
    assertThat(line.a.transport.counters().retries).isEqualTo(1);
  }

  @Test
  void sequenceNakDoesNotEndTheWaitForAReceiver() {
    line.a.ackTimeout = 0;
    line.b.minRnrTimer = 2; // 20 us
    post(SendOperation.SEND, 0, 8);
    line.run();
    lateAcknowledge(NAK_SEQUENCE, 0);
    line.run();
    assertThat(line.a.transport.nextDeadline()).isEqualTo(20_000);
    receive(0);
    line.pass();
    assertThat(line.a.done).extracting(Station.Done::status).containsExactly(WorkStatus.SUCCESS);
  }

  @Test
  void repeatedRnrNakCostsOneRetry() {
    line.a.rnrRetry = 1;
    post(SendOperation.SEND, 0, 8);
    line.run();
    lateAcknowledge(0x21, 0);
    assertThat(line.a.done).isEmpty();
    assertThat(line.a.transport.nextDeadline()).isEqualTo(10_000);
    receive(0);
    line.pass();
    assertThat(line.a.done).extracting(Station.Done::status).containsExactly(WorkStatus.SUCCESS);
  }

  @Test
  void waitForAReceiverEndsWhenADuplicateWasReceived() {
    post(SendOperation.SEND, 0, 8);
    line.run();
    assertThat(line.a.done).isEmpty();
    receive(0);
    lateRequest(PacketOpcode.SEND_ONLY, 0);
    line.run();
    post(SendOperation.WRITE, 1, 8);
    line.run();
    assertDone(0, 1);
  }

  @Test
  void progressRestoresTheRnrRetries() {
    line.a.rnrRetry = 1;
    for (int i = 0; i < 5; i++) {
      post(SendOperation.SEND, i, 8);
    }
    line.run();
    for (int i = 0; i < 5; i++) {
      receive(i);
      line.pass();
    }
    assertThat(line.a.done).extracting(Station.Done::status).containsOnly(WorkStatus.SUCCESS);
    assertThat(line.a.done).hasSize(5);
    assertThat(line.a.transport.counters().rnrNaksReceived).isEqualTo(5);
  }

  @Test
  void lostRnrNaksAreRecoveredByTheTimeOut() {
    line.a.ackTimeout = 5; // 131.072 us
    line.a.rnrRetry = 0;
    line.loses = number -> number == 1; // the RNR NAK
    post(SendOperation.SEND, 0, 8);
    line.run();
    receive(0);
    assertThat(line.a.transport.nextDeadline()).isEqualTo(131_072);
    line.pass();
    assertThat(line.a.done).extracting(Station.Done::status).containsExactly(WorkStatus.SUCCESS);
    assertThat(line.a.transport.counters().timeouts).isEqualTo(1);
  }
}
