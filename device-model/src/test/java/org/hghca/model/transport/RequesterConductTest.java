package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.hghca.wire.PacketOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A requester whose responder answers as other devices do: one acknowledgement for many packets or
 * one for each, responses that imply acknowledgements, repeated NAKs, unsolicited answers.
 */
class RequesterConductTest {
  private static final int ACK = 0x1f;
  private static final int RNR_NAK = 0x21; // 10 us
  private static final int NAK_SEQUENCE = 0x60;
  private static final int MTU = 256;

  private final RawPeer peer = new RawPeer(Service.RC);
  private final Station station = peer.station;
  private int posted;

  private void post(SendOperation operation, int length) {
    int position = posted++;
    station.post(Station.request(operation, position, 0, 0x4000, length));
    peer.run();
  }

  private void assertDone(int count) {
    assertThat(station.done)
        .extracting(Station.Done::position)
        .containsExactlyElementsOf(IntStream.range(0, count).boxed().toList());
    assertThat(station.done).allMatch(done -> done.status() == WorkStatus.SUCCESS);
  }

  @Test
  void oneAcknowledgementCompletesAllRequestsUpToItsPsn() {
    for (int i = 0; i < 5; i++) {
      post(i % 2 == 0 ? SendOperation.SEND : SendOperation.WRITE, 8);
    }
    peer.answer(ACK, 3);
    assertDone(4);
    peer.answer(ACK, 4);
    assertDone(5);
  }

  @Test
  void ackInsideAMessageCompletesThoseBeforeIt() {
    post(SendOperation.WRITE, 8);
    post(SendOperation.WRITE, 4 * MTU);
    peer.answer(ACK, 2);
    assertDone(1);
    peer.sent();
    peer.pass();
    // Acknowledged packets are not sent again.
    assertThat(peer.psns()).containsExactly(3, 4);
    peer.answer(ACK, 4);
    assertDone(2);
  }

  /** Software may write anything into a context; PSNs that no request has may then be answered. */
  @ParameterizedTest
  @CsvSource({"0x10, WRITE", "0x10, READ", "0x0d, READ", "0x11, WRITE", "0x11, READ"})
  void answerBetweenRequestsOfAContextWhosePsnWasChangedEndsNoStep(
      String opcode, SendOperation second) {
    post(SendOperation.WRITE, 8);
    station.nextSendPsn = 1000;
    post(second, 8);
    assertThat(peer.psns()).containsExactly(0, 1000);

    peer.give(Integer.decode(opcode), 500, packet -> packet.syndrome = NAK_SEQUENCE);

    assertThat(station.done).hasSizeLessThanOrEqualTo(2);
    assertThat(station.state).isEqualTo(QueuePairState.RTS);
    assertThat(station.step(peer.now)).as("there is more to do").isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {0x00, 0x0a, 0x1e, 0x1f})
  void creditsAreIgnored(int syndrome) {
    for (int i = 0; i < 3; i++) {
      post(SendOperation.SEND, 8);
    }
    peer.answer(syndrome, 1);
    post(SendOperation.SEND, 8);
    assertThat(peer.psns()).containsExactly(0, 1, 2, 3);
    peer.answer(syndrome, 3);
    assertDone(4);
  }

  @Test
  void lastPacketOfEachMessageRequestsAnAck() {
    post(SendOperation.SEND, 0);
    post(SendOperation.WRITE, 3 * MTU);
    assertThat(peer.sent())
        .extracting(RawPeer.Came::ackRequest)
        .containsExactly(true, false, false, true);
  }

  @Test
  void longMessageRequestsAcksInBetween() {
    post(SendOperation.WRITE, 600 * MTU);
    int lastAsked = -1;
    int acknowledged = 0;
    List<RawPeer.Came> sent = peer.sent();
    while (!sent.isEmpty()) {
      for (RawPeer.Came came : sent) {
        if (came.ackRequest()) {
          lastAsked = came.psn();
        } else {
          assertThat(came.psn() - lastAsked).isLessThan(64);
        }
      }
      acknowledged = lastAsked;
      peer.answer(ACK, acknowledged);
      sent = peer.sent();
    }
    assertThat(acknowledged).isEqualTo(599);
    assertDone(1);
  }

  @Test
  void ackBehindAReadIsAnImpliedNakOfTheRead() {
    post(SendOperation.WRITE, 8);
    post(SendOperation.READ, 2 * MTU);
    post(SendOperation.SEND, 8);
    assertThat(peer.psns()).containsExactly(0, 1, 3);
    peer.answer(ACK, 3);
    assertDone(1);
    assertThat(peer.psns()).containsExactly(1, 3);
    // A second one adds nothing.
    peer.answer(ACK, 3);
    assertThat(peer.psns()).isEmpty();
    peer.data(PacketOpcode.READ_RESPONSE_FIRST, 1, MTU);
    peer.data(PacketOpcode.READ_RESPONSE_LAST, 2, MTU);
    assertDone(2);
    peer.answer(ACK, 3);
    assertDone(3);
    assertThat(station.transport.counters().retries).isEqualTo(1);
  }

  @Test
  void ackBehindAnAtomicIsAnImpliedNakOfTheAtomic() {
    post(SendOperation.FETCH_ADD, 8);
    post(SendOperation.WRITE, 8);
    peer.sent();
    peer.answer(ACK, 1);
    assertThat(station.done).isEmpty();
    assertThat(peer.sent())
        .extracting(RawPeer.Came::opcode)
        .containsExactly(PacketOpcode.FETCH_ADD, PacketOpcode.WRITE_ONLY);
    peer.give(PacketOpcode.ATOMIC_ACKNOWLEDGE, 0, packet -> packet.original = 5);
    peer.answer(ACK, 1);
    assertDone(2);
  }

  @Test
  void plainAckOfAReadIsNoResponse() {
    post(SendOperation.READ, 8);
    peer.sent();
    peer.answer(ACK, 0);
    assertThat(station.done).isEmpty();
    assertThat(peer.psns()).containsExactly(0);
    peer.data(PacketOpcode.READ_RESPONSE_ONLY, 0, 8);
    assertDone(1);
  }

  @Test
  void readResponseAcknowledgesRequestsBeforeTheRead() {
    post(SendOperation.SEND, 8);
    post(SendOperation.WRITE, 2 * MTU);
    post(SendOperation.READ, 8);
    peer.data(PacketOpcode.READ_RESPONSE_ONLY, 3, 8);
    assertDone(3);
    assertThat(station.transport.nextDeadline()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void atomicResponseAcknowledgesRequestsBeforeTheAtomic() {
    post(SendOperation.WRITE, 8);
    post(SendOperation.FETCH_ADD, 8);
    peer.give(PacketOpcode.ATOMIC_ACKNOWLEDGE, 1, packet -> packet.original = 5);
    assertDone(2);
  }

  @Test
  void responseOfALaterReadIsAnImpliedNakOfTheEarlierOne() {
    post(SendOperation.READ, 8);
    post(SendOperation.READ, 8);
    peer.sent();
    peer.data(PacketOpcode.READ_RESPONSE_ONLY, 1, 8);
    assertThat(station.done).isEmpty();
    assertThat(peer.psns()).containsExactly(0, 1);
    peer.data(PacketOpcode.READ_RESPONSE_ONLY, 0, 8);
    peer.data(PacketOpcode.READ_RESPONSE_ONLY, 1, 8);
    assertDone(2);
  }

  @Test
  void readContinuesFromTheMissingResponse() {
    post(SendOperation.READ, 4 * MTU + 100);
    peer.sent();
    peer.data(PacketOpcode.READ_RESPONSE_FIRST, 0, MTU);
    peer.data(PacketOpcode.READ_RESPONSE_MIDDLE, 1, MTU);
    peer.data(PacketOpcode.READ_RESPONSE_MIDDLE, 3, MTU);
    peer.data(PacketOpcode.READ_RESPONSE_LAST, 4, 100);
    List<RawPeer.Came> sent = peer.sent();
    assertThat(sent).hasSize(1);
    assertThat(sent.getFirst().psn()).isEqualTo(2);
    assertThat(sent.getFirst().address()).isEqualTo(0x4000 + 2 * MTU);
    assertThat(sent.getFirst().dmaLength()).isEqualTo(2 * MTU + 100);
    // The peer restarts from there.
    peer.data(PacketOpcode.READ_RESPONSE_FIRST, 2, MTU);
    peer.data(PacketOpcode.READ_RESPONSE_MIDDLE, 3, MTU);
    peer.data(PacketOpcode.READ_RESPONSE_LAST, 4, 100);
    assertDone(1);
  }

  @Test
  void readWhoseLastResponsesAreLostContinuesAfterTheTimeOut() {
    post(SendOperation.READ, 3 * MTU);
    peer.sent();
    peer.data(PacketOpcode.READ_RESPONSE_FIRST, 0, MTU);
    peer.pass();
    List<RawPeer.Came> sent = peer.sent();
    assertThat(sent).extracting(RawPeer.Came::psn).containsExactly(1);
    assertThat(sent.getFirst().address()).isEqualTo(0x4000 + MTU);
    assertThat(sent.getFirst().dmaLength()).isEqualTo(2 * MTU);
    peer.data(PacketOpcode.READ_RESPONSE_FIRST, 1, MTU);
    // A late answer to the first request.
    peer.data(PacketOpcode.READ_RESPONSE_MIDDLE, 1, MTU);
    peer.data(PacketOpcode.READ_RESPONSE_LAST, 2, MTU);
    assertDone(1);
  }

  @Test
  void repeatedResponsesChangeNothing() {
    post(SendOperation.READ, 2 * MTU);
    post(SendOperation.FETCH_ADD, 8);
    post(SendOperation.SEND, 8);
    peer.sent();
    for (int i = 0; i < 2; i++) {
      peer.data(PacketOpcode.READ_RESPONSE_FIRST, 0, MTU);
    }
    for (int i = 0; i < 2; i++) {
      peer.data(PacketOpcode.READ_RESPONSE_LAST, 1, MTU);
    }
    for (int i = 0; i < 2; i++) {
      peer.give(PacketOpcode.ATOMIC_ACKNOWLEDGE, 2, packet -> packet.original = 5);
    }
    peer.answer(ACK, 3).answer(ACK, 3);
    assertDone(3);
    assertThat(peer.sent()).isEmpty();
  }

  @Test
  void rnrNakAcknowledgesPacketsBeforeIt() {
    for (int i = 0; i < 3; i++) {
      post(SendOperation.SEND, 8);
    }
    peer.sent();
    peer.answer(RNR_NAK, 2);
    assertDone(2);
    assertThat(peer.psns()).isEmpty();
    assertThat(station.transport.nextDeadline()).isEqualTo(10_000);
    peer.pass();
    assertThat(peer.psns()).containsExactly(2);
  }

  @Test
  void sequenceNakBehindAnRnrNakOfTheSamePsnDoesNotEndTheWait() {
    station.rnrRetry = 1;
    for (int i = 0; i < 3; i++) {
      post(SendOperation.SEND, 8);
    }
    peer.sent();
    peer.answer(RNR_NAK, 0).answer(NAK_SEQUENCE, 0);
    assertThat(peer.psns()).isEmpty();
    post(SendOperation.SEND, 8);
    assertThat(peer.psns()).isEmpty();
    assertThat(station.transport.nextDeadline()).isEqualTo(10_000);
    peer.pass();
    assertThat(peer.psns()).containsExactly(0, 1, 2, 3);
    peer.answer(ACK, 3);
    assertDone(4);
    assertThat(station.transport.counters().retries).isEqualTo(1);
  }

  @Test
  void lateSequenceNakBehindAnRnrNakTakesNoRetry() {
    for (int i = 0; i < 3; i++) {
      post(SendOperation.SEND, 8);
    }
    assertThat(peer.psns()).containsExactly(0, 1, 2);
    for (int round = 0; round < 20; round++) {
      peer.answer(RNR_NAK, 0);
      peer.pass();
      assertThat(peer.psns()).as("round %d", round).containsExactly(0, 1, 2);
      // That of packets 1 and 2, which the peer answered behind the RNR NAK.
      peer.answer(NAK_SEQUENCE, 0);
      assertThat(peer.psns()).as("round %d", round).isEmpty();
    }
    peer.answer(ACK, 2);
    assertDone(3);
  }

  @Test
  void retriesBeginAnewWhenTheReceiverWasNotReady() {
    station.retryCount = 1;
    post(SendOperation.SEND, 8);
    assertThat(peer.psns()).containsExactly(0);
    for (int round = 0; round < 3; round++) {
      peer.pass(); // the time-out
      assertThat(peer.psns()).as("round %d", round).containsExactly(0);
      peer.answer(RNR_NAK, 0);
      peer.pass(); // the wait for the receiver
      assertThat(peer.psns()).as("round %d", round).containsExactly(0);
    }
    peer.answer(ACK, 0);
    assertDone(1);
  }

  @Test
  void sequenceNakAcknowledgesPacketsBeforeItAndRetransmits() {
    for (int i = 0; i < 4; i++) {
      post(SendOperation.WRITE, 8);
    }
    peer.sent();
    peer.answer(NAK_SEQUENCE, 2);
    assertDone(2);
    assertThat(peer.psns()).containsExactly(2, 3);
    assertThat(peer.now).isZero();
  }

  @Test
  void repeatedSequenceNakIsIgnoredUntilProgress() {
    station.retryCount = 1;
    for (int i = 0; i < 4; i++) {
      post(SendOperation.WRITE, 8);
    }
    peer.sent();
    peer.answer(NAK_SEQUENCE, 1).answer(NAK_SEQUENCE, 1).answer(NAK_SEQUENCE, 1);
    assertThat(peer.psns()).containsExactly(1, 2, 3);
    peer.answer(ACK, 1).answer(NAK_SEQUENCE, 2);
    assertThat(peer.psns()).containsExactly(2, 3);
    peer.answer(ACK, 3);
    assertDone(4);
  }

  @Test
  void sequenceNakAfterTheTimeOutRetransmitsAgain() {
    for (int i = 0; i < 3; i++) {
      post(SendOperation.WRITE, 8);
    }
    peer.sent();
    peer.answer(NAK_SEQUENCE, 1);
    assertThat(peer.psns()).containsExactly(1, 2);
    peer.pass();
    assertThat(peer.psns()).containsExactly(1, 2);
    peer.answer(NAK_SEQUENCE, 1);
    assertThat(peer.psns()).containsExactly(1, 2);
  }

  @ParameterizedTest
  @CsvSource({"31, 4", "31, 5000", "31, 0xfffffe", "96, 4", "97, 4", "98, 0x800000", "33, 7"})
  void answerToAnUnsentPacketIsIgnored(int syndrome, String psn) {
    for (int i = 0; i < 4; i++) {
      post(SendOperation.WRITE, 8);
    }
    peer.answer(ACK, 1);
    peer.sent();
    peer.answer(syndrome, Integer.decode(psn));
    assertThat(peer.sent()).isEmpty();
    assertDone(2);
    assertThat(station.state).isEqualTo(QueuePairState.RTS);
    peer.answer(ACK, 3);
    assertDone(4);
  }

  @ParameterizedTest
  @ValueSource(ints = {ACK, RNR_NAK, NAK_SEQUENCE, 0x61, 0x62, 0x63})
  void lateAnswerIsIgnored(int syndrome) {
    for (int i = 0; i < 4; i++) {
      post(SendOperation.WRITE, 8);
    }
    peer.answer(ACK, 2);
    peer.sent();
    for (int psn = 0; psn < 3; psn++) {
      peer.answer(syndrome, psn);
    }
    assertThat(peer.sent()).isEmpty();
    assertThat(station.state).isEqualTo(QueuePairState.RTS);
    peer.answer(ACK, 3);
    assertDone(4);
  }

  @Test
  void psnsWrapAround() {
    station.nextSendPsn = 0xff_fffe;
    station.oldestUnackedPsn = 0xff_fffe;
    post(SendOperation.WRITE, 3 * MTU);
    post(SendOperation.READ, 2 * MTU);
    post(SendOperation.WRITE, 8);
    assertThat(peer.psns()).containsExactly(0xff_fffe, 0xff_ffff, 0, 1, 3);
    peer.answer(ACK, 0xff_ffff);
    peer.answer(0x60, 0);
    assertThat(peer.psns()).containsExactly(0, 1, 3);
    peer.data(PacketOpcode.READ_RESPONSE_FIRST, 1, MTU);
    assertDone(1);
    peer.data(PacketOpcode.READ_RESPONSE_LAST, 2, MTU);
    peer.answer(ACK, 0xff_ffff); // late
    peer.answer(ACK, 3);
    assertDone(3);
  }

  @Test
  void readAcrossTheWrapContinuesInTheMiddle() {
    station.nextSendPsn = 0xff_ffff;
    station.oldestUnackedPsn = 0xff_ffff;
    post(SendOperation.READ, 3 * MTU);
    peer.sent();
    peer.data(PacketOpcode.READ_RESPONSE_FIRST, 0xff_ffff, MTU);
    peer.data(PacketOpcode.READ_RESPONSE_LAST, 1, MTU);
    List<RawPeer.Came> sent = peer.sent();
    assertThat(sent).extracting(RawPeer.Came::psn).containsExactly(0);
    assertThat(sent.getFirst().address()).isEqualTo(0x4000 + MTU);
    peer.data(PacketOpcode.READ_RESPONSE_FIRST, 0, MTU);
    peer.data(PacketOpcode.READ_RESPONSE_LAST, 1, MTU);
    assertDone(1);
  }

  @Test
  void retryCountSevenIsSevenRetries() {
    station.retryCount = 7;
    post(SendOperation.SEND, 8);
    int sent = peer.sent().size();
    while (station.done.isEmpty()) {
      peer.pass();
      sent += peer.sent().size();
    }
    assertThat(sent).isEqualTo(8);
    assertThat(station.done)
        .extracting(Station.Done::status)
        .containsExactly(WorkStatus.RETRIES_EXCEEDED);
  }

  @ParameterizedTest
  @CsvSource({
    "0x61, REMOTE_INVALID_REQUEST",
    "0x62, REMOTE_ACCESS",
    "0x63, REMOTE_OPERATION",
    "0x64, REMOTE_OPERATION"
  })
  void finalNakCompletesEarlierRequestsAndFlushesLaterOnes(String syndrome, WorkStatus status) {
    for (int i = 0; i < 3; i++) {
      post(SendOperation.WRITE, 8);
    }
    peer.answer(Integer.decode(syndrome), 1);
    assertThat(station.done)
        .extracting(Station.Done::status)
        .containsExactly(WorkStatus.SUCCESS, status, WorkStatus.FLUSHED);
    assertThat(station.state).isEqualTo(QueuePairState.ERR);
  }

  @Test
  void readRefusedInTheMiddleFails() {
    post(SendOperation.READ, 3 * MTU);
    peer.data(PacketOpcode.READ_RESPONSE_FIRST, 0, MTU);
    peer.answer(0x62, 1);
    assertThat(station.done)
        .extracting(Station.Done::status)
        .containsExactly(WorkStatus.REMOTE_ACCESS);
  }

  @ParameterizedTest
  @ValueSource(ints = {0x40, 0x5f})
  void reservedSyndromeIsIgnored(int syndrome) {
    post(SendOperation.WRITE, 8);
    peer.sent();
    peer.answer(syndrome, 0);
    assertThat(station.done).isEmpty();
    assertThat(peer.sent()).isEmpty();
    assertThat(station.state).isEqualTo(QueuePairState.RTS);
  }
}
