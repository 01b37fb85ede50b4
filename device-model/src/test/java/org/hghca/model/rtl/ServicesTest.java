package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.TestPair.BYSTANDER;
import static org.hghca.model.rtl.TestPair.QPN;
import static org.hghca.model.rtl.TestPair.data;

import java.util.ArrayList;
import java.util.List;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QpcState;
import org.hghca.model.rtl.TestCard.Sge;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What each service carries, the contents of its completions, and its treatment of packets out of
 * order.
 */
class ServicesTest {
  private static final int WRITE = 0x08;
  private static final int SEND = 0x0a;
  private static final int READ = 0x10;
  private static final int PIECE = 256;

  private TestPair pair = new TestPair(QpcServiceType.RC);

  private static String pattern(int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append((char) ('!' + (i * 7 + i / 90) % 90));
    }
    return text.toString();
  }

  /** Dwords of a CQE by number, as in memory. */
  private static String dword(String cqe, int number) {
    return cqe.substring(8 * number, 8 * number + 8);
  }

  @ParameterizedTest
  @CsvSource({
    "RC,0x0a,100,04",
    "RC,0x0a,600,02",
    "RC,0x0b,100,05",
    "RC,0x0b,600,03",
    "RC,0x09,100,0b",
    "RC,0x09,600,09",
    "UC,0x0a,100,04",
    "UC,0x0a,600,02",
    "UC,0x0b,100,05",
    "UC,0x0b,600,03",
    "UC,0x09,100,0b",
    "UC,0x09,600,09"
  })
  void receiveHasTheOpcodeOfTheLastPacket(String service, String code, int length, String last) {
    pair = new TestPair(TestCard.service(service));
    pair.a.queuePair(QPN).mtu = PIECE;
    int opcode = Integer.decode(code);
    pair.b.receive(QPN, data(0x8000, 1024));
    pair.a.post(QPN, opcode, opcode == 0x09 ? data(0x9000, 1024) : null, data(0, length));
    pair.run();

    String cqe = pair.b.cqes(TestCard.RCQ + QPN).getFirst();
    assertThat(dword(cqe, 0)).isEqualTo("02000000");
    assertThat(dword(cqe, 2)).isEqualTo("02000000");
    assertThat(dword(cqe, 4)).isEqualTo("00000000"); // never an immediate
    assertThat(dword(cqe, 5)).isEqualTo("%02x%02x0000".formatted(length & 0xff, length >> 8));
    assertThat(dword(cqe, 7)).isEqualTo(last + "000000");
    String sent = pair.a.cqes(QPN).getFirst();
    boolean reliable = service.equals("RC");
    assertThat(dword(sent, 2)).isEqualTo(reliable ? "02030000" : "02000000"); // the key of the CQ
    assertThat(dword(sent, 7)).isEqualTo("%02x010000".formatted(opcode));
  }

  @ParameterizedTest
  @ValueSource(ints = {WRITE, SEND, READ})
  void everyShortLengthArrives(int opcode) {
    String text = pattern(139);
    pair.a.put(0x100, text);
    pair.b.put(0x100, text);
    for (int length = 1; length <= 139; length++) {
      TestCard target = opcode == READ ? pair.a : pair.b;
      target.put(0x8000, ".".repeat(140));
      if (opcode == SEND) {
        pair.b.receiveAt(QPN, (length - 1) % 64 * 64, data(0x8000, 140));
        pair.b.receiveSlot(QPN, length % 64).asSlice(0, 16).fill((byte) 0);
        pair.a.post(QPN, SEND, null, data(0x100, length));
      } else if (opcode == WRITE) {
        pair.a.post(QPN, WRITE, data(0x8000, length), data(0x100, length));
      } else {
        pair.a.post(QPN, READ, data(0x100, length), data(0x8000, length));
      }
      pair.run();
      assertThat(target.text(0x8000, 140))
          .isEqualTo(text.substring(0, length) + ".".repeat(140 - length));
    }
    assertThat(pair.a.hazards.list()).isEmpty();
    assertThat(pair.b.hazards.list()).isEmpty();
  }

  @Test
  void twelveWqesWrapAroundAQueueOf512Bytes() {
    pair.a.queuePair(QPN).sendLength = 512;
    for (int i = 0; i < 12; i++) {
      pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
      pair.run();
    }

    List<String> offsets = new ArrayList<>();
    pair.a.cqes(QPN).forEach(cqe -> offsets.add(cqe.substring(48, 52)));
    assertThat(offsets)
        .containsExactly(
            "0000", "4000", "8000", "c000", "0001", "4001", "8001", "c001", "0000", "4000", "8000",
            "c000");
  }

  @Test
  void sixteenDataUnitsAreGathered() {
    Sge[] units = new Sge[16];
    pair.a.put(0, pattern(16 * 40));
    for (int i = 0; i < units.length; i++) {
      units[i] = data(40L * (15 - i), 40);
    }
    pair.a.postWide(QPN, WRITE, data(0x8000, 640), units);
    pair.run();

    assertThat(pair.b.text(0x8000, 40)).isEqualTo(pattern(640).substring(600));
    assertThat(pair.b.text(0x8000 + 600, 40)).isEqualTo(pattern(40));
  }

  @ParameterizedTest
  @ValueSource(ints = {WRITE, READ})
  void datagramIsASend(int opcode) {
    pair = new TestPair(QpcServiceType.UD);
    pair.a.post(QPN, opcode, data(0x8000, 8), data(0, 8));
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly("%02x000000 02".formatted(opcode));
    assertThat(pair.bothPass()).isTrue();
  }

  @Test
  void queueKeyIsIgnored() {
    pair = new TestPair(QpcServiceType.UD);
    pair.b.receive(QPN, data(0x8000, 64));
    pair.a.datagram(QPN, SEND, TestPair.B, QPN, data(0, 8));
    pair.run();

    assertThat(pair.b.receives(QPN)).isEqualTo(1);
  }

  @Test
  void unreliableConnectionThatLostAPacketRefusesAllLaterOnes() {
    pair = new TestPair(QpcServiceType.UC);
    pair.loses = number -> number == 0;
    for (int i = 0; i < 3; i++) {
      pair.b.receive(QPN, data(0x8000, 64));
      pair.a.post(QPN, SEND, null, data(0, 8));
    }
    pair.run();

    assertThat(pair.a.sends(QPN)).hasSize(3).allMatch("0a010000 00"::equals);
    assertThat(pair.b.receives(QPN)).isZero();
  }

  @Test
  void reliableConnectionThatLostAPacketMakesNoProgress() {
    pair.loses = number -> number == 0;
    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.run();
    pair.now += 60_000_000_000L;
    pair.run();

    assertThat(pair.packets).containsExactly("0a 100 00", "0a 101 00");
    assertThat(pair.a.sends(QPN)).isEmpty();
    assertThat(pair.bothPass()).isTrue();
  }

  /** Numbers are compared without wrap: an acknowledgement of 0 does not acknowledge ffffffh. */
  @Test
  void psnsDoNotWrap() {
    pair.a.queuePair(QPN).nextSendPsn = 0xffffff;
    pair.a.queuePair(QPN).oldestUnackedPsn = 0xffffff;
    pair.b.queuePair(QPN).expectedPsn = 0xffffff;
    pair.loses = number -> number == 1; // the first acknowledgement
    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.run();
    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.run();

    assertThat(pair.packets).containsExactly("0a ffffff 00", "11 ffffff 00", "0a 0 00", "11 0 00");
    assertThat(pair.a.sends(QPN)).isEmpty();
  }

  @Test
  void errWithTheNextPsnFlushesWithTheNextDoorbell() {
    pair.loses = number -> number == 0;
    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.run();
    OnChipQp qp = pair.a.queuePair(QPN);
    qp.state = QpcState.ERR;
    qp.oldestUnackedPsn = 0x101; // written again as well; it does not matter
    pair.run();
    assertThat(pair.a.sends(QPN)).isEmpty();

    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.run();
    assertThat(pair.a.sends(QPN)).containsExactly("ff000000 00", "ff000000 00");
  }

  /** A rewind by one packet of three is a rewind. */
  @Test
  void psnInsideTheLastMessageIsRewoundToo() {
    pair.a.queuePair(QPN).mtu = PIECE;
    pair.loses = number -> number == 2;
    pair.a.post(QPN, WRITE, data(0x8000, 768), data(0, 768));
    pair.run();
    OnChipQp qp = pair.a.queuePair(QPN);
    assertThat(qp.nextSendPsn).isEqualTo(0x103);
    qp.state = QpcState.ERR;
    qp.nextSendPsn = 0x102;
    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.run();

    assertThat(pair.a.sends(QPN)).isEmpty();
  }

  @Test
  void receiverInErrGivesNoCompletionForPostedReceives() {
    for (int i = 0; i < 3; i++) {
      pair.b.receive(QPN, data(0x8000, 64));
    }
    pair.b.queuePair(QPN).state = QpcState.ERR;
    pair.run();
    assertThat(pair.b.receives(QPN)).isZero();

    pair.a.post(QPN, SEND, null, data(0, 8));
    pair.run();
    assertThat(pair.a.sends(QPN)).containsExactly("ff000000 00");
    assertThat(pair.b.receives(QPN)).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"UC", "UD"})
  void unreliableReceiverInInitDropsWithoutAReport(String service) {
    pair = new TestPair(TestCard.service(service));
    pair.b.queuePair(QPN).state = QpcState.INIT;
    pair.b.receive(QPN, data(0x8000, 64));
    if (service.equals("UD")) {
      pair.a.datagram(QPN, SEND, TestPair.B, QPN, data(0, 8));
    } else {
      pair.a.post(QPN, SEND, null, data(0, 8));
    }
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly("0a010000 00");
    assertThat(pair.b.receives(QPN)).isZero();
  }

  @ParameterizedTest
  @CsvSource({"1", "2", "4"})
  void readNeedsTheRightOnBothSides(int right) {
    pair.a.register(0x55, right);
    pair.b.register(0x55, right);
    if (right == 1) {
      pair.a.post(BYSTANDER, READ, data(0, 8), new Sge(0x55, 0, 8));
      pair.run();
      assertThat(pair.a.sends(BYSTANDER)).containsExactly("10010000 00");
    } else {
      pair.a.post(BYSTANDER, READ, data(0, 8), new Sge(0x55, 0, 8));
      pair.run();
      assertThat(pair.a.hazards.list()).singleElement().asString().startsWith("12.3");
    }
    TestPair others = new TestPair(QpcServiceType.RC);
    others.b.register(0x55, right);
    others.a.post(QPN, READ, new Sge(0x55, 0, 8), data(0, 8));
    others.run();
    assertThat(others.a.hazards.list().isEmpty()).isEqualTo(right == 4);
  }
}
