package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.TestPair.QPN;
import static org.hghca.model.rtl.TestPair.data;

import org.hghca.abi.NextUnit;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QpcState;
import org.hghca.model.rtl.TestCard.Sge;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Successful requests, and errors that leave the card working. */
class R1EngineTest {
  private static final int WRITE = 0x08;
  private static final int SEND = 0x0a;
  private static final int SEND_IMM = 0x0b;
  private static final int READ = 0x10;
  private static final String FLUSHED = "ff000000 00";
  private static final Sge UNKNOWN = new Sge(0x77, 0, 16);

  private TestPair pair = new TestPair(QpcServiceType.RC);

  private static String sent(int opcode) {
    return "%02x010000 00".formatted(opcode);
  }

  @Test
  void sendArrivesAndBothSidesComplete() {
    pair.a.put(0, "hello");
    pair.b.receive(QPN, data(0x8000, 64));
    pair.a.post(QPN, SEND, null, data(0, 5));
    pair.run();

    assertThat(pair.b.text(0x8000, 5)).isEqualTo("hello");
    assertThat(pair.a.sends(QPN)).containsExactly(sent(SEND));
    assertThat(pair.b.receives(QPN)).isEqualTo(1);
    assertThat(pair.a.hazards.list()).isEmpty();
    assertThat(pair.b.hazards.list()).isEmpty();
  }

  @Test
  void chainOfThreeIsSentWithOneDoorbell() {
    for (int i = 0; i < 3; i++) {
      pair.a.write(QPN, data(0x8000 + 64 * i, 8), data(0, 8));
    }
    pair.a.link(TestCard.SQ + QPN, 0, 1, WRITE, 3);
    pair.a.link(TestCard.SQ + QPN, 1, 2, WRITE, 3);
    pair.a.ringDoorbell(QPN, WRITE, 0, 3);
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly(sent(WRITE), sent(WRITE), sent(WRITE));
  }

  @ParameterizedTest
  @ValueSource(ints = {QpcState.RST, QpcState.INIT, QpcState.RTR})
  void reliableSenderSendsBeforeRts(int state) {
    pair.a.queuePair(QPN).state = state;
    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly(sent(WRITE));
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 5, 6})
  void reliableSenderInTheLastThreeStatesFails(int state) {
    pair.a.queuePair(QPN).state = state;
    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly(FLUSHED);
  }

  @ParameterizedTest
  @CsvSource({"1,0,00", "1,4,00", "1,5,05", "1,6,05", "3,0,00", "3,4,00", "3,5,05", "3,6,05"})
  void unreliableSenderKeepsItsOpcodeInErrors(int service, int state, String syndrome) {
    pair = new TestPair(service);
    pair.b.receive(QPN, data(0x8000, 64));
    pair.a.queuePair(QPN).state = state;
    pair.a.put(0, "late");
    if (service == QpcServiceType.UD) {
      pair.a.datagram(QPN, SEND, TestPair.B, QPN, data(0, 4));
    } else {
      pair.a.post(QPN, SEND, null, data(0, 4));
    }
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly("0a000000 " + syndrome);
    // In RST the message is still sent.
    assertThat(pair.b.text(0x8000, 4).equals("late")).isEqualTo(state == QpcState.RST);
  }

  @Test
  void readOnAnUnreliableConnectionIsNotAllowed() {
    pair = new TestPair(QpcServiceType.UC);
    pair.a.post(QPN, READ, data(0x8000, 8), data(0, 8));
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly("10000000 02");
  }

  @Test
  void writeByAnUnknownKeyFailsBothSidesAndAllLaterRequests() {
    pair.a.post(QPN, WRITE, UNKNOWN, data(0, 8));
    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.run();
    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly(FLUSHED, FLUSHED, FLUSHED);
    assertThat(pair.packets).contains("11 100 62");
    assertThat(pair.a.queuePair(QPN).state).isEqualTo(QpcState.ERR);
    assertThat(pair.b.queuePair(QPN).state).isEqualTo(QpcState.ERR);
    assertThat(pair.bothPass()).isTrue();
  }

  @Test
  void unreliableWriteByUnknownKeyEndsTheResponderOnly() {
    pair = new TestPair(QpcServiceType.UC);
    pair.a.put(0, "12345678");
    pair.a.post(QPN, WRITE, UNKNOWN, data(0, 8));
    pair.run();
    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly(sent(WRITE), sent(WRITE));
    assertThat(pair.b.queuePair(QPN).state).isEqualTo(QpcState.ERR);
    assertThat(pair.b.text(0x8000, 8)).isEqualTo("\0".repeat(8));
    assertThat(pair.bothPass()).isTrue();
  }

  /** Slots 0 to 3 by messages of 1, 2, 5 and 1 packets. */
  @ParameterizedTest
  @CsvSource({"10,0000 0000 0000 c000", "11,0000 0000 0000 c000", "9,0000 4000 8000 c000"})
  void receiveOfASendOfManyPacketsHasNoOffset(int opcode, String places) {
    pair.a.queuePair(QPN).mtu = 256;
    for (int length : new int[] {64, 512, 1280, 64}) {
      pair.b.receive(QPN, data(0x8000, 2048));
      pair.a.post(QPN, opcode, opcode == 9 ? data(0x9000, 2048) : null, data(0, length));
      pair.run();
    }

    assertThat(pair.b.cqes(TestCard.RCQ + QPN).stream().map(cqe -> cqe.substring(48, 52)))
        .containsExactly(places.split(" "));
  }

  /** The last packet has the offset again when it reaches a new data unit. */
  @ParameterizedTest
  @CsvSource({
    "256,1024,163,1187,4000",
    "512,672,36,708,4000",
    "512,4288,48,4336,4000",
    "512,600,600,1100,0000",
    "256,512,512,1024,0000",
    "256,768,200,800,4000"
  })
  void receiveHasItsOffsetWhenTheLastPacketStartsADataUnit(
      int mtu, int first, int second, int length, String place) {
    pair.a.queuePair(QPN).mtu = mtu;
    pair.b.receive(QPN, data(0x8000, 64));
    pair.b.receive(QPN, data(0x8000, first), data(0xa000, second));
    pair.a.post(QPN, SEND, null, data(0, 8));
    pair.a.post(QPN, SEND, null, data(0, length));
    pair.run();

    assertThat(pair.b.cqes(TestCard.RCQ + QPN).getLast().substring(48, 52)).isEqualTo(place);
  }

  @ParameterizedTest
  @CsvSource({"5a000014,14000000", "5a004114,14010000", "3114,14310000"})
  void completionOfAReliableSendHas14BitsOfItsQueuesKey(String key, String dword) {
    pair.a.moveKey(QPN, Integer.parseUnsignedInt(key, 16));
    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.run();

    assertThat(pair.a.cqes(QPN).getFirst().substring(16, 24)).isEqualTo(dword);
  }

  @Test
  void acknowledgementsThatEndAMessageHaveTheMsnOne() {
    pair.a.queuePair(QPN).mtu = 256;
    pair.b.put(0, "x");
    pair.a.post(QPN, WRITE, data(0x8000, 512), data(0, 512));
    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.a.post(QPN, READ, data(0, 8), data(0x9000, 8));
    pair.a.post(QPN, WRITE, UNKNOWN, data(0, 8));
    pair.run();

    assertThat(pair.numbers).containsExactly("100 0", "101 1", "102 1", "103 1", "104 0");
  }

  @Test
  void receiverThatIsNotReadyReturnsItsRetryCount() {
    pair.b.queuePair(QPN).rnrTimer = 7;
    pair.a.post(QPN, SEND, null, data(0, 8));
    pair.run();

    assertThat(pair.packets).containsExactly("04 100 00", "11 100 27");
    assertThat(pair.numbers).containsExactly("100 0");
  }

  @ParameterizedTest
  @CsvSource({"0,true", "1,true", "3,false"})
  void packetsOfConnectionsRequestAnAcknowledgement(int service, boolean asks) {
    pair = new TestPair(service);
    if (service == QpcServiceType.UD) {
      pair.a.datagram(QPN, SEND, TestPair.B, QPN, data(0, 8));
    } else {
      pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    }
    pair.run();

    assertThat(pair.asked).first().isEqualTo(asks);
  }

  /** A single SEND packet asks for none if its immediate is 0, and is acknowledged all the same. */
  @ParameterizedTest
  @CsvSource({"0,8,false", "1,8,true", "0,2000,true"})
  void sendWithImmediateZeroRequestsNoAcknowledgement(int immediate, int length, boolean asks) {
    pair.b.receive(QPN, data(0x8000, length));
    int slot = pair.a.write(QPN, null, data(0, length));
    NextUnit.write(pair.a.sendSlot(QPN, slot), 0, 0, 0, 0, immediate);
    pair.a.ringDoorbell(QPN, SEND_IMM, slot, 2);
    pair.run();

    assertThat(pair.asked.get(length / 1025)).isEqualTo(asks);
    assertThat(pair.a.sends(QPN)).containsExactly("0b010000 00");
  }

  /** Only 13 bits select the queue pair, but its reports have them all. */
  @Test
  void numberBeyondTheTableIsReturnedCompletely() {
    pair.b.receive(QPN, data(0x8000, 64));
    int slot = pair.a.write(QPN, null, data(0, 8));
    pair.a.queuePair(QPN).remoteQpn = 0x4000 + QPN;
    pair.a.ringDoorbell(0x2000 + QPN, SEND, slot, 2);
    pair.run();

    assertThat(pair.a.cqes(QPN).getFirst()).startsWith("02200000");
    assertThat(pair.b.cqes(TestCard.RCQ + QPN).getFirst())
        .startsWith("02400000" + "00000000" + "02200000");
  }

  @ParameterizedTest
  @CsvSource({"0,ff000000 00", "1,0a000000 11"})
  void badDataUnitThatIsNotTheLastFailsOnlyTheQueuePair(int service, String cqe) {
    pair = new TestPair(service);
    pair.a.post(QPN, SEND, null, UNKNOWN, data(0, 8));
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly(cqe);
    assertThat(pair.a.queuePair(QPN).state).isEqualTo(QpcState.ERR);
    assertThat(pair.bothPass()).isTrue();
  }

  @Test
  void badReceiveUnitFailsOnlyTheRequester() {
    pair.b.receive(QPN, UNKNOWN);
    pair.a.post(QPN, SEND, null, data(0, 8));
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly(FLUSHED);
    assertThat(pair.b.receives(QPN)).isZero();
    assertThat(pair.bothPass()).isTrue();
  }

  @Test
  void errFlushesNothingUntilAnotherDoorbell() {
    pair.loses = number -> number == 0;
    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.run();
    pair.a.queuePair(QPN).state = QpcState.ERR;
    pair.run();
    assertThat(pair.a.sends(QPN)).isEmpty();

    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.run();
    assertThat(pair.a.sends(QPN)).containsExactly(FLUSHED, FLUSHED);
  }

  @Test
  void rewoundPsnLosesCompletionsPermanently() {
    pair.loses = number -> number == 0;
    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.run();
    OnChipQp qp = pair.a.queuePair(QPN);
    qp.state = QpcState.ERR;
    qp.nextSendPsn = 0x100;
    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.run();
    qp.state = QpcState.RTS;
    pair.a.put(0, "still");
    pair.a.post(QPN, WRITE, data(0x8000, 5), data(0, 5));
    pair.run();

    assertThat(pair.b.text(0x8000, 5)).isEqualTo("still");
    assertThat(pair.a.sends(QPN)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"0a,02000000", "0b,01000000"})
  void datagramPlacesOnlyItsPayloadAndHalvesAnImmediatesNumber(String opcode, String rqpn) {
    pair = new TestPair(QpcServiceType.UD);
    pair.a.put(0, "datagram");
    pair.b.receive(QPN, data(0x8000, 64));
    pair.a.datagram(QPN, Integer.parseInt(opcode, 16), TestPair.B, QPN, data(0, 8));
    pair.run();

    assertThat(pair.b.text(0x8000, 8)).isEqualTo("datagram");
    assertThat(pair.b.cqes(TestCard.RCQ + QPN).getFirst().substring(16, 24)).isEqualTo(rqpn);
  }

  @Test
  void lostDatagramMakesAllLaterOnesRefused() {
    pair = new TestPair(QpcServiceType.UD);
    pair.loses = number -> number == 0;
    pair.b.receive(QPN, data(0x8000, 64));
    pair.a.datagram(QPN, SEND, TestPair.B, QPN, data(0, 8));
    pair.a.datagram(QPN, SEND, TestPair.B, QPN, data(0, 8));
    pair.run();

    assertThat(pair.a.sends(QPN)).hasSize(2);
    assertThat(pair.b.receives(QPN)).isZero();
  }

  @Test
  void immediateIsNeverDelivered() {
    pair.b.receive(QPN, data(0x8000, 64));
    pair.a.post(QPN, SEND_IMM, null, data(0, 8));
    pair.run();

    String cqe = pair.b.cqes(TestCard.RCQ + QPN).getFirst();
    assertThat(cqe.substring(32, 40)).isEqualTo("00000000");
    assertThat(cqe).endsWith("05000000");
  }

  @Test
  void receiveWithoutTerminatorConsumesTheNextSlot() {
    Sge unit = data(0x8000, 16);
    pair.b.receive(QPN, unit, unit, unit);
    pair.b.receive(QPN, data(0x9000, 16));
    pair.a.post(QPN, SEND, null, data(0, 8));
    pair.run();
    assertThat(pair.b.receives(QPN)).isEqualTo(1);

    pair.a.post(QPN, SEND, null, data(0, 8));
    pair.run();
    assertThat(pair.b.receives(QPN)).isEqualTo(1);
    assertThat(pair.b.hazards.list()).singleElement().asString().startsWith("12.5");
  }

  @Test
  void completionQueuesAreOverwritten() {
    for (int i = 0; i < 20; i++) {
      pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
      pair.run();
    }

    assertThat(pair.a.cqes(QPN)).hasSize(16);
    assertThat(pair.a.completionQueue(QPN).offset).isEqualTo(4 * 32);
  }
}
