package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.TestPair.QPN;
import static org.hghca.model.rtl.TestPair.data;

import java.util.List;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QpcState;
import org.hghca.model.rtl.TestCard.Sge;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Uses that break the card: each one has its effect, and a reset recovers the card. */
class HazardTest {
  private static final int WRITE = 0x08;
  private static final int WRITE_IMM = 0x09;
  private static final int SEND = 0x0a;
  private static final int READ = 0x10;
  private static final String FLUSHED = "ff000000 00";
  private static final Sge UNKNOWN = new Sge(0x77, 0, 16);

  private TestPair pair = new TestPair(QpcServiceType.RC);

  private static void struck(TestCard card, String line) {
    assertThat(card.hazards.list()).isNotEmpty().allMatch(what -> what.startsWith(line + ": "));
  }

  // 12.1

  @ParameterizedTest
  @ValueSource(ints = {SEND, WRITE, READ})
  void messageWithoutDataUnitStopsBothDirections(int opcode) {
    pair.b.receive(QPN, data(0x8000, 64));
    pair.a.post(QPN, opcode, opcode == SEND ? null : data(0x8000, 8));
    pair.run();

    assertThat(pair.a.sends(QPN)).hasSize(opcode == SEND ? 1 : 0);
    assertThat(pair.passes(pair.a, pair.b)).isFalse();
    assertThat(pair.passes(pair.b, pair.a)).isFalse();
    struck(pair.a, "12.1");
  }

  @Test
  void emptySendSucceedsAndBreaksBothCards() {
    pair.b.receive(QPN, data(0x8000, 64));
    pair.a.post(QPN, SEND, null, data(0, 0));
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly("0a010000 00");
    assertThat(pair.b.receives(QPN)).isZero();
    assertThat(pair.passes(pair.a, pair.b)).isFalse();
    struck(pair.a, "12.1");
    struck(pair.b, "12.1");
  }

  @Test
  void emptyWriteIsNeverCompleted() {
    pair.a.post(QPN, WRITE, data(0x8000, 0), data(0, 0));
    pair.run();

    assertThat(pair.packets).hasSize(1);
    assertThat(pair.a.sends(QPN)).isEmpty();
    assertThat(pair.passes(pair.a, pair.b)).isFalse();
    struck(pair.a, "12.1");
  }

  @Test
  void emptyReadMovesEveryCompletionToTheNextQueue() {
    pair.a.post(QPN, READ, data(0x8000, 0), data(0, 0));
    pair.run();
    assertThat(pair.a.cqes(QPN)).containsExactly("0".repeat(64));

    pair.a.post(TestPair.BYSTANDER, WRITE, data(0x8000, 8), data(0, 8));
    pair.run();
    assertThat(pair.a.cqes(TestPair.BYSTANDER)).singleElement().asString().endsWith("10010000");
    struck(pair.a, "12.1");
  }

  @ParameterizedTest
  @CsvSource({"0,32", "32,0"})
  void emptyDataUnitBesideOthersMisplacesData(int first, int second) {
    pair.a.post(QPN, WRITE, data(0x8000, 32), data(0, first), data(0, second));
    pair.run();

    assertThat(pair.passes(pair.a, pair.b)).isFalse();
    struck(pair.a, "12.1");
  }

  @Test
  void emptyReceiveUnitWritesTheMessageIntoTheCompletionQueue() {
    pair.a.put(0, "looks like a completion, is none");
    pair.b.receive(QPN, data(0x8000, 0), data(0x8000, 64));
    pair.a.post(QPN, SEND, null, data(0, 31));
    pair.run();

    assertThat(pair.b.cqes(TestCard.RCQ + QPN)).singleElement().asString().startsWith("6c6f6f6b73");
    assertThat(pair.passes(pair.a, pair.b)).isFalse();
    struck(pair.b, "12.1");
  }

  // 12.2

  @Test
  void writeAcrossAPageWithAPartialBeatStopsTheWriteChannel() {
    pair.a.put(0, "0123456789abcdefghij");
    pair.a.post(QPN, WRITE, data(0x8ff6, 20), data(0, 20)); // 10 and 10 bytes
    pair.run();

    assertThat(pair.b.text(0x8ff6, 10)).isEqualTo("0123456789");
    assertThat(pair.b.text(0x9000, 1)).isEqualTo("\0");
    assertThat(pair.passes(pair.a, pair.b)).isFalse();
    struck(pair.b, "12.2");
  }

  @Test
  void writeAcrossAPageWithAFullBeatWaitsForTheNextWrite() {
    pair.a.put(0, "0123456789abcdefghijklmnopqrstuv");
    pair.b.receive(QPN, data(0x8ff6, 32));
    pair.a.post(QPN, SEND, null, data(0, 32)); // 10 and 22 bytes
    pair.run();
    assertThat(pair.b.text(0x9000, 1)).isEqualTo("\0");
    assertThat(pair.b.receives(QPN)).isZero();

    assertThat(pair.passes(pair.a, pair.b)).isTrue();
    assertThat(pair.b.text(0x8ff6, 32)).isEqualTo("0123456789abcdefghijklmnopqrstuv");
    assertThat(pair.b.receives(QPN)).isEqualTo(1);
    struck(pair.b, "12.2");
  }

  @ParameterizedTest
  @CsvSource({"0x8ff6,40", "0x8fe0,33", "0x8fe0,100", "0x8ff6,10"})
  void otherWritesAcrossAPageArrive(String offset, int length) {
    long target = Long.decode(offset);
    pair.a.put(0, "x".repeat(length));
    pair.a.post(QPN, WRITE, data(target, length), data(0, length));
    pair.run();

    assertThat(pair.b.text(target, length)).isEqualTo("x".repeat(length));
    assertThat(pair.b.hazards.list()).isEmpty();
  }

  @Test
  void readResultAcrossAPageStopsTheRequestersChannel() {
    pair.a.post(QPN, READ, data(0x8000, 20), data(0x8ff6, 20));
    pair.run();

    assertThat(pair.a.sends(QPN)).isEmpty();
    assertThat(pair.bothPass()).isFalse();
    struck(pair.a, "12.2");
  }

  @Test
  void oddUnitBeforeAnAlignedOneMisalignsIt() {
    pair.a.queuePair(QPN).mtu = 256;
    pair.b.receive(QPN, data(0x8000, 10), data(0x8f00, 512)); // 10 + 246, then 10 + 2 of 12 bytes
    pair.a.post(QPN, SEND, null, data(0, 268));
    pair.run();

    struck(pair.b, "12.2");
  }

  // 12.3

  @ParameterizedTest
  @CsvSource({"RC", "UC", "UD"})
  void badLastDataUnitStopsTheSender(String service) {
    pair = new TestPair(TestCard.service(service));
    if (service.equals("UD")) {
      pair.a.datagram(QPN, SEND, TestPair.B, QPN, UNKNOWN);
    } else {
      pair.a.post(QPN, SEND, null, data(0, 8), UNKNOWN);
    }
    pair.run();

    assertThat(pair.a.sends(QPN)).isEmpty();
    assertThat(pair.passes(pair.a, pair.b)).isFalse();
    assertThat(pair.passes(pair.b, pair.a)).isTrue();
    struck(pair.a, "12.3");
  }

  // 12.4

  @ParameterizedTest
  @CsvSource({"64,32,true", "300,100,true", "33,32,true", "64,60,false"})
  void receiveThatIsTooSmallEndsBothSidesWithoutACompletion(
      int message, int room, boolean othersLive) {
    pair.b.receive(QPN, data(0x8000, room));
    pair.a.post(QPN, SEND, null, data(0, message));
    pair.run();
    assertThat(pair.a.sends(QPN)).isEmpty();
    assertThat(pair.b.receives(QPN)).isZero();

    pair.a.post(QPN, SEND, null, data(0, 8));
    pair.a.post(QPN, SEND, null, data(0, 8));
    pair.run();
    assertThat(pair.a.sends(QPN)).containsExactly(FLUSHED, FLUSHED, FLUSHED);
    assertThat(pair.passes(pair.a, pair.b)).isEqualTo(othersLive);
    struck(pair.b, "12.4");
  }

  /** Packets behind the one that was too long are refused. */
  @Test
  void messageThatContinuesIsRefusedAtOnce() {
    pair.a.queuePair(QPN).mtu = 256;
    pair.b.receive(QPN, data(0x8000, 32));
    pair.a.post(QPN, SEND, null, data(0, 1000));
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly(FLUSHED);
    assertThat(pair.bothPass()).isTrue();
  }

  // 12.5

  @ParameterizedTest
  @CsvSource({"6,0x30", "7,0x70", "8,0xf0"})
  void emptyReceiveQueueEndsTheResponderAndMovesItsOffset(int strideLog, String offset) {
    OnChipQp responder = pair.b.queuePair(QPN);
    responder.receiveStrideLog = strideLog;
    pair.a.post(QPN, SEND, null, data(0, 8));
    pair.run();
    assertThat(pair.a.sends(QPN)).isEmpty();
    assertThat(pair.a.queuePair(QPN).state).isEqualTo(QpcState.RTS);
    assertThat(responder.state).isEqualTo(QpcState.ERR);
    assertThat(responder.receiveOffset).isEqualTo(Integer.decode(offset));

    pair.a.post(QPN, SEND, null, data(0, 8));
    pair.run();
    assertThat(pair.a.sends(QPN)).containsExactly(FLUSHED, FLUSHED);
    assertThat(pair.bothPass()).isTrue();
    struck(pair.b, "12.5");
  }

  @Test
  void unreliableMessageToAnEmptyQueueIsTheLastToArrive() {
    pair = new TestPair(QpcServiceType.UC);
    pair.a.post(QPN, SEND, null, data(0, 8));
    pair.run();
    pair.b.receive(QPN, data(0x8000, 64));
    pair.b.receive(QPN, data(0x8000, 64));
    pair.a.post(QPN, SEND, null, data(0, 8));
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly("0a010000 00", "0a010000 00");
    assertThat(pair.b.receives(QPN)).isZero();
    assertThat(pair.b.queuePair(QPN).receiveOffset).isEqualTo(0x30);
    struck(pair.b, "12.5");
  }

  @Test
  void writeWithImmediateNeedsAReceiveToo() {
    pair.a.post(QPN, WRITE_IMM, data(0x8000, 8), data(0, 8));
    pair.run();

    assertThat(pair.a.sends(QPN)).isEmpty();
    struck(pair.b, "12.5");
  }

  // 12.6

  @Test
  void refusedReadSendsZerosForever() {
    pair.a.post(QPN, READ, UNKNOWN, data(0, 8));
    pair.run();
    long sent = pair.a.engine.counters().packetsSent;
    pair.now += 1_000_000;
    pair.run();

    assertThat(pair.a.engine.counters().packetsSent).isGreaterThan(sent);
    assertThat(pair.packets).endsWith("00 0 00");
    assertThat(pair.a.writtenBack).containsExactly(0);
    assertThat(pair.a.sends(QPN)).isEmpty();
    assertThat(pair.passes(pair.a, pair.b)).isFalse();
    assertThat(pair.passes(pair.b, pair.a)).isFalse();
    struck(pair.a, "12.6");
    struck(pair.b, "12.6");
  }

  /** Refused twice, it ends its queue pair only. */
  @Test
  void refusedReadWithNumberZeroFailsInOrder() {
    first(0);
    pair.a.post(QPN, READ, UNKNOWN, data(0, 64));
    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.run();

    assertThat(pair.packets)
        .containsSubsequence("0c 0 00", "11 1 62", "0c 0 00", "11 1 63")
        .doesNotContain("00 0 00");
    assertThat(pair.a.sends(QPN)).containsExactly("ff000000 00", "ff000000 00");
    assertThat(pair.a.queuePair(QPN).state).isEqualTo(QpcState.ERR);
    assertThat(pair.b.queuePair(QPN).state).isEqualTo(QpcState.ERR);
    assertThat(pair.a.writtenBack).isEmpty();
    assertThat(pair.bothPass()).isTrue();
    assertThat(pair.a.hazards.list()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"1,64", "2,64", "5,64", "ffffff,64", "0,2000"})
  void refusedReadIsSentAgainBeforeTheZeros(String psn, int length) {
    first(Integer.parseInt(psn, 16));
    pair.a.post(QPN, READ, UNKNOWN, data(0, length));
    pair.run();

    String request = "0c %s 00".formatted(psn);
    String next = "%x".formatted(Integer.parseInt(psn, 16) + 1 & 0xff_ffff);
    assertThat(pair.packets).startsWith(request, "11 %s 62".formatted(next), request, "00 0 00");
    assertThat(pair.packets).contains("11 %s 63".formatted(next));
    assertThat(pair.a.sends(QPN)).isEmpty();
    assertThat(pair.bothPass()).isFalse();
    struck(pair.a, "12.6");
    struck(pair.b, "12.6");
  }

  private void first(int psn) {
    for (TestCard card : List.of(pair.a, pair.b)) {
      OnChipQp qp = card.queuePair(QPN);
      qp.nextSendPsn = psn;
      qp.oldestUnackedPsn = psn;
      qp.expectedPsn = psn;
    }
  }

  // 12.7

  @ParameterizedTest
  @ValueSource(ints = {0x00, 0x11, 0x12})
  void unsupportedOpcodesStopTheSender(int opcode) {
    pair.a.post(QPN, opcode, data(0x8000, 8), data(0, 8));
    pair.run();

    assertThat(pair.a.sends(QPN)).isEmpty();
    assertThat(pair.passes(pair.a, pair.b)).isFalse();
    assertThat(pair.passes(pair.b, pair.a)).isEqualTo(opcode != 0);
    struck(pair.a, "12.7");
  }

  @Test
  void unknownOpcodeLeavesItsUnitsForTheNextRequest() {
    pair.a.post(QPN, 0x1f, null, data(0, 8));
    pair.run();
    assertThat(pair.a.sends(QPN)).isEmpty();

    assertThat(pair.passes(pair.a, pair.b)).isFalse();
    assertThat(pair.a.hazards.list().getFirst()).startsWith("12.7");
  }

  @ParameterizedTest
  @CsvSource({"2,0,0", "2,0,4", "2,0,33", "2,63,5", "9,0,2"})
  void doorbellsThatDifferFromTheWqeStopTheSender(int qpn, int slot, int units) {
    pair.a.write(QPN, null, data(0, 8));
    pair.a.ringDoorbell(qpn, SEND, slot, units);
    pair.run();

    assertThat(pair.a.sends(QPN)).isEmpty();
    assertThat(pair.passes(pair.a, pair.b)).isFalse();
    struck(pair.a, "12.7");
  }

  // 12.8

  @Test
  void linkedReceivesStayOnTheCard() {
    for (int i = 0; i < 2; i++) {
      pair.b.receive(QPN, data(0x8000 + 0x1000 * i, 64));
    }
    pair.b.link(TestCard.RQ + QPN, 0, 1, 0, 3);
    pair.a.post(QPN, SEND, null, data(0, 3));
    pair.run();
    // Slot 1 is written again, which the card does not see.
    pair.b.memory.asSlice(0x9000, 3).fill((byte) 0);
    pair.b.link(TestCard.RQ + QPN, 1, 0, 0, 0);
    pair.a.put(0, "old");
    pair.a.post(QPN, SEND, null, data(0, 3));
    pair.run();

    assertThat(pair.b.text(0x9000, 3)).isEqualTo("old");
    assertThat(pair.b.receives(QPN)).isEqualTo(2);
  }

  // 12.12

  @Test
  void receiverInInitAcknowledgesAndDrops() {
    pair.b.queuePair(QPN).state = QpcState.INIT;
    pair.a.put(0, "lost");
    pair.a.post(QPN, WRITE, data(0x8000, 4), data(0, 4));
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly("08010000 00");
    assertThat(pair.b.text(0x8000, 4)).isNotEqualTo("lost");
    struck(pair.b, "12.12");
  }

  // 12.19

  @ParameterizedTest
  @CsvSource({"64,0", "1000,1", "5000,1"})
  void dataUnitWithoutRightStopsTheReceiverAtAPacketsEnd(int length, int flushed) {
    pair.a.queuePair(QPN).mtu = 256;
    pair.b.receive(QPN, data(0x8000, 40), new Sge(0x77, 0, 32));
    pair.a.post(QPN, SEND, null, data(0, length));
    pair.run();

    assertThat(pair.a.sends(QPN)).hasSize(flushed);
    assertThat(pair.bothPass()).isEqualTo(flushed > 0);
    if (flushed == 0) {
      struck(pair.b, "12.19");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {16, 33, 64, 1000, 5000})
  void singleDataUnitWithoutRightRefusesEveryMessage(int length) {
    pair.a.queuePair(QPN).mtu = 256;
    pair.b.receive(QPN, new Sge(0x77, 0, 32));
    pair.b.receive(QPN, data(0x8000, 8192));
    pair.a.post(QPN, SEND, null, data(0, length));
    pair.run();
    pair.a.post(QPN, SEND, null, data(0, 8));
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly(FLUSHED, FLUSHED);
    assertThat(pair.b.receives(QPN)).isZero();
    assertThat(pair.b.queuePair(QPN).state).isEqualTo(QpcState.ERR);
    assertThat(pair.bothPass()).isTrue();
    assertThat(pair.b.hazards.list()).isEmpty();
  }

  @Test
  void resetRecoversASenderThatStopped() {
    pair.a.post(QPN, SEND, null, UNKNOWN);
    pair.run();
    assertThat(pair.passes(pair.a, pair.b)).isFalse();

    pair.a.doorbells.reset();
    pair.a.engine.reset();
    assertThat(pair.passes(pair.a, pair.b)).isTrue();
  }
}
