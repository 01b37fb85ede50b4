package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.TestPair.BYSTANDER;
import static org.hghca.model.rtl.TestPair.QPN;
import static org.hghca.model.rtl.TestPair.data;

import java.util.Set;
import org.hghca.abi.InlineUnit;
import org.hghca.abi.QpcServiceType;
import org.hghca.model.rtl.TestCard.Sge;
import org.hghca.wire.PacketPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every form of an empty message: each affects queue pairs that are not involved. */
class ZeroLengthTest {
  private static final int WRITE = 0x08;
  private static final int WRITE_IMM = 0x09;
  private static final int SEND = 0x0a;
  private static final int SEND_IMM = 0x0b;
  private static final int READ = 0x10;

  private TestPair pair = new TestPair(QpcServiceType.RC);

  private static void struck(TestCard card) {
    assertThat(card.hazards.list()).isNotEmpty().allMatch(what -> what.startsWith("12.1: "));
  }

  private void post(String service, int opcode, Sge... sges) {
    pair = new TestPair(TestCard.service(service));
    pair.b.receive(QPN, data(0x8000, 64));
    pair.b.receive(QPN, data(0x8000, 64));
    boolean send = opcode == SEND || opcode == SEND_IMM;
    pair.a.post(QPN, opcode, send ? null : data(0x8000, 64), sges);
    pair.run();
  }

  @ParameterizedTest
  @CsvSource({
    "RC,0x08", "RC,0x09", "RC,0x0a", "RC,0x0b", "RC,0x10", "UC,0x08", "UC,0x09", "UC,0x0a",
    "UC,0x0b"
  })
  void noDataUnitAtAll(String service, String opcode) {
    post(service, Integer.decode(opcode));

    assertThat(pair.bothPass()).isFalse();
    struck(pair.a);
  }

  @ParameterizedTest
  @CsvSource({
    "RC,0x08", "RC,0x09", "RC,0x0a", "RC,0x0b", "RC,0x10", "UC,0x08", "UC,0x09", "UC,0x0a",
    "UC,0x0b"
  })
  void oneEmptyDataUnit(String service, String opcode) {
    post(service, Integer.decode(opcode), data(0, 0));

    assertThat(pair.b.receives(QPN)).isZero();
    assertThat(pair.passes(pair.a, pair.b)).isFalse();
    struck(pair.a);
  }

  /** All zeros: the unit has not even an address. */
  @ParameterizedTest
  @ValueSource(ints = {WRITE, SEND, READ})
  void oneDataUnitOfZeros(int opcode) {
    pair.b.receive(QPN, data(0x8000, 64));
    Sge zeros = new Sge(0, -TestCard.BASE, 0);
    pair.a.post(QPN, opcode, opcode == SEND ? null : data(0x8000, 64), zeros);
    pair.run();

    assertThat(pair.passes(pair.a, pair.b)).isFalse();
    struck(pair.a);
  }

  @ParameterizedTest
  @CsvSource({
    "0x08,0,32",
    "0x08,32,0",
    "0x0a,0,32",
    "0x0a,32,0",
    "0x0b,0,32",
    "0x10,0,32",
    "0x10,32,0"
  })
  void emptyDataUnitBesideOthers(String opcode, int first, int second) {
    post("RC", Integer.decode(opcode), data(0, first), data(0, second));

    assertThat(pair.passes(pair.a, pair.b)).isFalse();
    struck(pair.a);
  }

  @ParameterizedTest
  @ValueSource(ints = {WRITE, SEND})
  void emptyInlineData(int opcode) {
    pair.b.receive(QPN, data(0x8000, 64));
    int slot = pair.a.write(QPN, opcode == SEND ? null : data(0x8000, 64));
    int units = opcode == SEND ? 2 : 3;
    InlineUnit.writeHeader(pair.a.sendSlot(QPN, slot), 16L * (units - 1), 0);
    pair.a.ringDoorbell(QPN, opcode, slot, units);
    pair.run();

    assertThat(pair.passes(pair.a, pair.b)).isFalse();
    struck(pair.a);
  }

  @Test
  void emptyDatagram() {
    pair = new TestPair(QpcServiceType.UD);
    pair.b.receive(QPN, data(0x8000, 64));
    pair.a.datagram(QPN, SEND, TestPair.B, QPN, data(0, 0));
    pair.run();

    assertThat(pair.b.receives(QPN)).isZero();
    assertThat(pair.passes(pair.a, pair.b)).isFalse();
    struck(pair.a);
  }

  @ParameterizedTest
  @ValueSource(ints = {WRITE, WRITE_IMM})
  void writeIsNeverAcknowledgedAndLaterDataIsLost(int opcode) {
    post("RC", opcode, data(0, 0));
    assertThat(pair.packets).hasSize(1);
    assertThat(pair.a.sends(QPN)).isEmpty();

    pair.a.put(0x100, "lost");
    pair.a.post(BYSTANDER, WRITE, data(0x9000, 4), data(0x100, 4));
    pair.run();
    assertThat(pair.a.sends(BYSTANDER)).containsExactly("08010000 00");
    assertThat(pair.b.text(0x9000, 4)).isNotEqualTo("lost");
  }

  @Test
  void onACardThatIsItsOwnPeerTheSenderCompletesFirst() {
    TestCard card = new TestCard(TestPair.A, new PacketPool(), Set.of());
    card.connect(2, QpcServiceType.RC, TestPair.A, 3);
    card.connect(3, QpcServiceType.RC, TestPair.A, 2);
    card.receive(3, data(0x8000, 64));
    card.post(2, SEND, null, data(0, 0));
    while (card.engine.step(0, 256)) {
      // until no work is left
    }
    assertThat(card.sends(2)).containsExactly("0a010000 00");
    assertThat(card.cqes(TestCard.RCQ + 3)).containsExactly("0".repeat(64));

    card.put(0, "lost");
    card.post(2, WRITE, data(0x9000, 4), data(0, 4));
    while (card.engine.step(0, 256)) {
      // until no work is left
    }
    assertThat(card.sends(2)).hasSize(1);
    assertThat(card.text(0x9000, 4)).isEqualTo("\0\0\0\0");
    struck(card);
  }

  @Test
  void messageBehindAnEmptySendLeavesWithoutItsPayload() {
    post("RC", SEND, data(0, 0));
    pair.b.engine.reset(); // its channel writes again
    pair.a.put(0x100, "mine");
    pair.b.put(0x9000, "....");
    pair.a.post(BYSTANDER, WRITE, data(0x9000, 4), data(0x100, 4));
    pair.run();

    assertThat(pair.b.text(0x9000, 4)).isEqualTo("\0\0\0\0");
  }

  @Test
  void emptyReadDelaysEveryCompletionButNotData() {
    post("RC", READ, data(0, 0));
    assertThat(pair.a.cqes(QPN)).containsExactly("0".repeat(64));

    pair.a.put(0x100, "data");
    pair.a.post(BYSTANDER, WRITE, data(0x9000, 4), data(0x100, 4));
    pair.run();
    assertThat(pair.b.text(0x9000, 4)).isEqualTo("data");
    assertThat(pair.a.sends(BYSTANDER)).containsExactly("10010000 00");
  }

  @Test
  void receiveWithoutDataUnitsWorksForAWriteWithImmediate() {
    pair.b.receive(QPN);
    pair.a.put(0, "0123456789abcdefghijklmnopqrstuv");
    pair.a.post(QPN, WRITE_IMM, data(0x8000, 32), data(0, 32));
    pair.run();

    assertThat(pair.b.text(0x8000, 32)).isEqualTo("0123456789abcdefghijklmnopqrstuv");
    assertThat(pair.b.receives(QPN)).isEqualTo(1);
    assertThat(pair.bothPass()).isTrue();
    assertThat(pair.b.hazards.list()).isEmpty();
  }

  /** Such a unit, which other cards use as a terminator, is not one here: the card continues. */
  @Test
  void emptyUnitBehindTheMessageDoesNotEndTheReceive() {
    pair.b.receive(QPN, data(0x8000, 32), new Sge(0x100, -TestCard.BASE, 0), data(0x8100, 8));
    pair.b.receive(QPN, data(0x9000, 32));
    pair.a.post(QPN, SEND, null, data(0, 32));
    pair.run();
    assertThat(pair.b.receives(QPN)).isEqualTo(1);

    pair.a.post(QPN, SEND, null, data(0, 32));
    pair.run();
    assertThat(pair.b.receives(QPN)).isEqualTo(1);
    assertThat(pair.b.hazards.list()).singleElement().asString().startsWith("12.5");
  }
}
