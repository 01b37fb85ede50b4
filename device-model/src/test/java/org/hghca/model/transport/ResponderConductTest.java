package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.IntStream;
import org.hghca.wire.PacketOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A responder whose requester is another device: it retransmits without need, requests
 * acknowledgements in the middle of messages or not at all, goes back to any packet, and waits for
 * each answer.
 */
class ResponderConductTest {
  private static final int ACK = 0x1f;
  private static final int MTU = 256;

  private final RawPeer peer = new RawPeer(Service.RC);
  private final Station station = peer.station;

  private void receive(int position, int length) {
    station.receive(position, 0x8000, length);
  }

  private RawPeer packet(int opcode, int psn, int length, boolean ackRequest) {
    return peer.give(
        opcode,
        psn,
        packet -> {
          packet.length = length;
          packet.ackRequest = ackRequest;
          packet.dmaLength = length;
        });
  }

  private RawPeer write(int psn) {
    return packet(PacketOpcode.WRITE_ONLY, psn, 8, true);
  }

  private RawPeer read(int psn, long address, int length) {
    return peer.give(
        PacketOpcode.READ_REQUEST,
        psn,
        packet -> {
          packet.remoteAddress = address;
          packet.dmaLength = length;
        });
  }

  private RawPeer fetchAdd(int psn, long add) {
    return peer.give(
        PacketOpcode.FETCH_ADD,
        psn,
        packet -> {
          packet.swapAdd = add;
          packet.length = 0;
        });
  }

  private void assertAnswers(int... syndromesAndPsns) {
    List<RawPeer.Came> sent = peer.sent();
    assertThat(sent).allMatch(came -> came.opcode() == PacketOpcode.ACKNOWLEDGE);
    assertThat(sent.stream().flatMapToInt(c -> IntStream.of(c.syndrome(), c.psn())).toArray())
        .containsExactly(syndromesAndPsns);
  }

  @Test
  void onlyPacketsThatRequestAnAckAreAcknowledged() {
    packet(PacketOpcode.WRITE_ONLY, 0, 8, false);
    assertAnswers();
    write(1);
    assertAnswers(ACK, 1);
  }

  @Test
  void packetInTheMiddleThatRequestsAnAckIsAcknowledged() {
    peer.give(
        PacketOpcode.WRITE_FIRST,
        0,
        packet -> {
          packet.dmaLength = 3 * MTU;
          packet.length = MTU;
        });
    packet(PacketOpcode.WRITE_MIDDLE, 1, MTU, true);
    assertAnswers(ACK, 1);
    packet(PacketOpcode.WRITE_LAST, 2, MTU, true);
    List<RawPeer.Came> sent = peer.sent();
    assertThat(sent).extracting(RawPeer.Came::psn).containsExactly(2);
    assertThat(sent.getFirst().msn()).isEqualTo(1);
  }

  @Test
  void msnStartsAtOne() {
    receive(0, 64);
    packet(PacketOpcode.SEND_ONLY, 0, 8, true);
    write(1);
    read(2, 0, 8);
    fetchAdd(3, 1);
    assertThat(peer.sent()).extracting(RawPeer.Came::msn).containsExactly(1, 2, 3, 4);
  }

  @Test
  void repeatedSendIsAcknowledgedUpToTheNewestAndCompletesNothing() {
    for (int i = 0; i < 4; i++) {
      receive(i, 64);
    }
    packet(PacketOpcode.SEND_ONLY, 0, 8, true);
    packet(PacketOpcode.SEND_ONLY, 1, 8, true);
    packet(PacketOpcode.SEND_ONLY, 2, 8, true);
    assertAnswers(ACK, 0, ACK, 1, ACK, 2);
    packet(PacketOpcode.SEND_ONLY, 0, 8, true);
    assertAnswers(ACK, 2);
    packet(PacketOpcode.SEND_ONLY, 1, 8, false);
    assertAnswers(ACK, 2);
    assertThat(station.done).hasSize(3);
    assertThat(station.receives).hasSize(1);
  }

  @Test
  void messageRepeatedFromItsMiddleContinues() {
    receive(0, 4 * MTU);
    packet(PacketOpcode.SEND_FIRST, 0, MTU, false);
    packet(PacketOpcode.SEND_MIDDLE, 1, MTU, false);
    packet(PacketOpcode.SEND_MIDDLE, 1, MTU, false);
    assertAnswers(ACK, 1);
    packet(PacketOpcode.SEND_FIRST, 0, MTU, false);
    packet(PacketOpcode.SEND_MIDDLE, 1, MTU, false);
    peer.sent();
    packet(PacketOpcode.SEND_LAST, 2, 100, true);
    assertAnswers(ACK, 2);
    assertThat(station.done).hasSize(1);
    assertThat(station.done.getFirst().length()).isEqualTo(2 * MTU + 100);
  }

  @Test
  void eachGapIsAnsweredByOneNak() {
    write(0);
    assertAnswers(ACK, 0);
    write(2).run();
    assertAnswers(0x60, 1);
    write(3);
    write(5);
    assertAnswers();
    write(1);
    assertAnswers(ACK, 1);
    write(4);
    assertAnswers(0x60, 2);
    write(2);
    write(3);
    assertAnswers(ACK, 2, ACK, 3);
  }

  @Test
  void repeatOfReceivedPacketsDoesNotAllowAnotherNak() {
    write(0);
    write(2);
    assertAnswers(ACK, 0, 0x60, 1);
    write(0);
    assertAnswers(ACK, 0);
    write(3);
    assertAnswers();
    write(1);
    assertAnswers(ACK, 1);
  }

  @Test
  void readIsAnsweredByAsManyResponsesAsItHasPsns() {
    read(0, 0x100, 2 * MTU + 10);
    List<RawPeer.Came> sent = peer.sent();
    assertThat(sent)
        .extracting(RawPeer.Came::opcode)
        .containsExactly(
            PacketOpcode.READ_RESPONSE_FIRST,
            PacketOpcode.READ_RESPONSE_MIDDLE,
            PacketOpcode.READ_RESPONSE_LAST);
    assertThat(sent).extracting(RawPeer.Came::psn).containsExactly(0, 1, 2);
    assertThat(sent).extracting(RawPeer.Came::length).containsExactly(MTU, MTU, 10);
    assertThat(sent).allMatch(came -> came.syndrome() == ACK);
    write(3);
    assertAnswers(ACK, 3);
  }

  @Test
  void repeatedReadIsAnsweredAgainFromAnyOfItsPackets() {
    read(0, 0x100, 4 * MTU);
    write(4);
    peer.sent();
    read(2, 0x100 + 2 * MTU, 2 * MTU);
    List<RawPeer.Came> sent = peer.sent();
    assertThat(sent).extracting(RawPeer.Came::psn).containsExactly(2, 3);
    assertThat(sent)
        .extracting(RawPeer.Came::opcode)
        .containsExactly(PacketOpcode.READ_RESPONSE_FIRST, PacketOpcode.READ_RESPONSE_LAST);
    write(5);
    assertAnswers(ACK, 5);
  }

  @Test
  void repeatedReadThatIsLongerIsDropped() {
    read(0, 0, MTU);
    peer.sent();
    read(0, 0, 3 * MTU);
    assertThat(peer.sent()).isEmpty();
    write(1);
    assertAnswers(ACK, 1);
  }

  @Test
  void repeatedAtomicGetsItsFirstResultAndIsNotExecutedAgain() {
    station.memory.set(ValueLayout.JAVA_LONG, 0, 100);
    fetchAdd(0, 1);
    fetchAdd(1, 10);
    assertThat(peer.sent()).extracting(RawPeer.Came::original).containsExactly(100L, 101L);
    fetchAdd(0, 1);
    fetchAdd(1, 10);
    fetchAdd(0, 1);
    List<RawPeer.Came> sent = peer.sent();
    assertThat(sent).extracting(RawPeer.Came::original).containsExactly(100L, 101L, 100L);
    assertThat(sent).extracting(RawPeer.Came::psn).containsExactly(0, 1, 0);
    assertThat(station.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(111);
  }

  @Test
  void repeatedCompareAndSwapGetsItsFirstResult() {
    station.memory.set(ValueLayout.JAVA_LONG, 0, 5);
    for (int i = 0; i < 2; i++) {
      peer.give(
          PacketOpcode.COMPARE_SWAP,
          0,
          packet -> {
            packet.compare = 5;
            packet.swapAdd = 6;
          });
    }
    assertThat(peer.sent()).extracting(RawPeer.Came::original).containsExactly(5L, 5L);
    assertThat(station.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(6);
  }

  @Test
  void repeatedAtomicWithoutAResultIsNotAnswered() {
    write(0);
    peer.sent();
    fetchAdd(0, 1);
    assertThat(peer.sent()).isEmpty();
    assertThat(station.memory.get(ValueLayout.JAVA_LONG, 0)).isZero();
  }

  @Test
  void withoutAReceiveAnRnrNakIsSentAndLaterPacketsAreDropped() {
    station.minRnrTimer = 12;
    write(0);
    packet(PacketOpcode.SEND_ONLY, 1, 8, true);
    assertAnswers(ACK, 0, 0x20 | 12, 1);
    write(2);
    write(3);
    assertThat(peer.sent()).hasSizeLessThanOrEqualTo(1);
    receive(0, 64);
    packet(PacketOpcode.SEND_ONLY, 1, 8, true);
    write(2);
    assertAnswers(ACK, 1, ACK, 2);
    assertThat(station.done).hasSize(1);
  }

  @Test
  void eachTryWithoutAReceiveIsAnswered() {
    for (int i = 0; i < 3; i++) {
      packet(PacketOpcode.SEND_ONLY, 0, 8, true);
      assertAnswers(0x21, 0);
    }
  }

  @Test
  void writeWithImmediateWaitsForItsReceiveAtItsEnd() {
    peer.give(
        PacketOpcode.WRITE_FIRST,
        0,
        packet -> {
          packet.dmaLength = MTU + 8;
          packet.length = MTU;
        });
    packet(PacketOpcode.WRITE_LAST_IMM, 1, 8, true);
    assertAnswers(0x21, 1);
    receive(0, 0);
    packet(PacketOpcode.WRITE_LAST_IMM, 1, 8, true);
    assertAnswers(ACK, 1);
    assertThat(station.done).hasSize(1);
    assertThat(station.done.getFirst().length()).isEqualTo(MTU + 8);
  }

  @ParameterizedTest
  @ValueSource(ints = {PacketOpcode.WRITE_ONLY, PacketOpcode.READ_REQUEST})
  void keyOfAnEmptyRequestIsNotChecked(int opcode) {
    peer.give(
        opcode,
        0,
        packet -> {
          packet.remoteKey = 12345;
          packet.ackRequest = true;
        });
    assertThat(peer.sent()).hasSize(1).allMatch(came -> came.syndrome() == ACK);
    assertThat(station.state).isEqualTo(QueuePairState.RTS);
  }

  @ParameterizedTest
  @CsvSource({
    "WRITE_ONLY, 8, 0x62",
    "WRITE_FIRST, 256, 0x62",
    "READ_REQUEST, 0, 0x62",
    "FETCH_ADD, 0, 0x62"
  })
  void invalidKeyIsAnAccessError(String operation, int length, String syndrome)
      throws ReflectiveOperationException {
    int opcode = PacketOpcode.class.getField(operation).getInt(null);
    peer.give(
        opcode,
        0,
        packet -> {
          packet.remoteKey = 12345;
          packet.length = length;
          packet.dmaLength = length == MTU ? 2 * MTU : 8;
        });
    assertAnswers(Integer.decode(syndrome), 0);
    assertThat(station.state).isEqualTo(QueuePairState.ERR);
  }

  @ParameterizedTest
  @ValueSource(ints = {PacketOpcode.WRITE_FIRST, PacketOpcode.READ_REQUEST})
  void messageLongerThanTheLongestIsInvalid(int opcode) {
    peer.give(
        opcode,
        0,
        packet -> {
          packet.dmaLength = 0x8000_0001;
          packet.length = opcode == PacketOpcode.READ_REQUEST ? 0 : MTU;
        });
    assertAnswers(0x61, 0);
    assertThat(station.state).isEqualTo(QueuePairState.ERR);
  }

  @Test
  void psnsWrapAround() {
    station.expectedPsn = 0xff_fffe;
    write(0xff_fffe);
    read(0xff_ffff, 0, 2 * MTU);
    write(1);
    assertThat(peer.psns()).containsExactly(0xff_fffe, 0xff_ffff, 0, 1);
    // A repeat from before the wrap.
    write(0xff_fffe);
    assertAnswers(ACK, 1);
    read(0, MTU, MTU);
    assertThat(peer.psns()).containsExactly(0);
    write(3);
    assertAnswers(0x60, 2);
  }

  @Test
  void ackDoesNotOvertakeTheResponsesBeforeIt() {
    peer.queue(PacketOpcode.READ_REQUEST, 0, packet -> packet.dmaLength = 100 * MTU);
    peer.queue(
        PacketOpcode.WRITE_ONLY,
        100,
        packet -> {
          packet.length = 8;
          packet.dmaLength = 8;
          packet.ackRequest = true;
        });
    peer.run();
    List<RawPeer.Came> sent = peer.sent();
    assertThat(sent).hasSize(101);
    assertThat(sent.getLast().opcode()).isEqualTo(PacketOpcode.ACKNOWLEDGE);
    assertThat(sent.getLast().psn()).isEqualTo(100);
  }

  private void queueWrite(int psn) {
    peer.queue(
        PacketOpcode.WRITE_ONLY,
        psn,
        packet -> {
          packet.length = 8;
          packet.dmaLength = 8;
          packet.ackRequest = true;
        });
  }

  /** Linux's soft RoCE completes a READ with such an ACK when its last response is lost. */
  @Test
  void ackDoesNotCoverTheReadThatFollows() {
    queueWrite(0);
    peer.queue(PacketOpcode.READ_REQUEST, 1, packet -> packet.dmaLength = 3 * MTU);
    peer.run();
    List<RawPeer.Came> sent = peer.sent();
    assertThat(sent)
        .extracting(RawPeer.Came::opcode)
        .containsExactly(
            PacketOpcode.ACKNOWLEDGE,
            PacketOpcode.READ_RESPONSE_FIRST,
            PacketOpcode.READ_RESPONSE_MIDDLE,
            PacketOpcode.READ_RESPONSE_LAST);
    assertThat(sent).extracting(RawPeer.Came::psn).containsExactly(0, 1, 2, 3);
  }

  @Test
  void ackDoesNotCoverTheAtomicThatFollows() {
    queueWrite(0);
    peer.queue(PacketOpcode.FETCH_ADD, 1, packet -> packet.length = 0);
    peer.run();
    List<RawPeer.Came> sent = peer.sent();
    assertThat(sent)
        .extracting(RawPeer.Came::opcode)
        .containsExactly(PacketOpcode.ACKNOWLEDGE, PacketOpcode.ATOMIC_ACKNOWLEDGE);
    assertThat(sent).extracting(RawPeer.Came::psn).containsExactly(0, 1);
  }

  @Test
  void ackOfARepeatDoesNotCoverALaterRead() {
    write(0);
    read(1, 0, 3 * MTU);
    peer.sent();
    write(0);
    assertAnswers(ACK, 0);
    write(4);
    assertAnswers(ACK, 4);
    write(0);
    assertAnswers(ACK, 4);
  }

  @Test
  void ackBetweenTwoReadsIsSentBetweenTheirResponses() {
    peer.queue(PacketOpcode.READ_REQUEST, 0, packet -> packet.dmaLength = 2 * MTU);
    queueWrite(2);
    peer.queue(PacketOpcode.READ_REQUEST, 3, packet -> packet.dmaLength = 2 * MTU);
    peer.run();
    assertThat(peer.psns()).containsExactly(0, 1, 2, 3, 4);
  }

  @Test
  void failedQueuePairNoLongerAnswersRepeats() {
    write(0);
    packet(PacketOpcode.WRITE_MIDDLE, 1, MTU, true);
    assertAnswers(ACK, 0, 0x61, 1);
    write(0);
    assertAnswers();
  }
}
