package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.TestPair.BYSTANDER;
import static org.hghca.model.rtl.TestPair.QPN;
import static org.hghca.model.rtl.TestPair.data;

import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.hghca.abi.Cqe;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QpcState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Packets with the last of all sequence numbers, FFFFFFh, and those behind them. */
class PsnWrapTest {
  private static final int WRITE = 0x08;
  private static final int SEND = 0x0a;
  private static final int READ = 0x10;
  private static final int ENTRIES = 16;

  private TestPair pair = pair(QpcServiceType.RC, 0xff_fffe);

  private static TestPair pair(int service, int psn) {
    TestPair pair = new TestPair(service);
    for (TestCard card : new TestCard[] {pair.a, pair.b}) {
      OnChipQp qp = card.queuePair(QPN);
      qp.nextSendPsn = psn;
      qp.oldestUnackedPsn = psn;
      qp.expectedPsn = psn;
    }
    return pair;
  }

  private void post(int opcode, int at, int length) {
    if (opcode == SEND) {
      pair.b.receive(QPN, data(0x8000 + at, length));
      pair.a.post(QPN, SEND, null, data(at, length));
    } else {
      pair.a.post(QPN, opcode, data(0x8000 + at, length), data(at, length));
    }
  }

  /** One of another queue pair arrives, and has a CQE only from a good card. */
  private void assertLost() {
    assertThat(pair.a.hazards.list()).singleElement().asString().startsWith("12.21: ");
    assertThat(pair.passes(pair.a, pair.b)).isFalse();
    assertThat(pair.b.text(0x3_0000, 9)).isEqualTo("bystander");
    assertThat(pair.a.cqes(BYSTANDER)).isEmpty();
    assertThat(pair.passes(pair.b, pair.a)).isTrue();
    assertThat(pair.a.queuePair(QPN).state).isEqualTo(QpcState.RTS);
    assertThat(pair.b.hazards.list()).isEmpty();
  }

  /**
   * Offset of the WQE and last dword of the CQE in a slot of the ring, both as they are in memory.
   */
  private String entry(int slot) {
    byte[] entry = pair.a.entry(QPN, (long) Cqe.SIZE * slot).toArray(ValueLayout.JAVA_BYTE);
    return HexFormat.of().formatHex(entry, Cqe.WQE_OFFSET_OFFSET, Cqe.SIZE);
  }

  /** The packet with that number is the only one, or the first, a middle or the last one. */
  @ParameterizedTest
  @CsvSource({
    "8,ffffff,64", "8,ffffff,3000", "8,fffffe,3000", "8,fffffd,3000", "8,fffffa,9000",
    "10,ffffff,64", "10,ffffff,3000", "10,fffffe,3000", "10,fffffd,3000", "10,fffffa,9000"
  })
  void requestWithTheLastNumberIsCompletedEndlessly(int opcode, String psn, int length) {
    pair = pair(QpcServiceType.RC, Integer.parseInt(psn, 16));
    post(opcode, 0, length);
    pair.run();

    assertThat(pair.a.engine.completions()).isGreaterThan(1);
    assertThat(entry(0)).isEqualTo("00000000%02x010000".formatted(opcode));
    assertLost();
  }

  @Test
  void completionsFollowWithoutEndAndAFewInAStep() {
    post(WRITE, 0, 64);
    pair.run();
    assertThat(pair.a.engine.completions()).isEqualTo(1);
    post(WRITE, 0x100, 64);
    pair.run();

    for (int i = 0; i < 1000; i++) {
      long before = pair.a.engine.completions();
      assertThat(pair.a.engine.step(0, 256)).as("work").isFalse();
      assertThat(pair.a.engine.completions() - before).isEqualTo(8);
    }
    for (int slot = 0; slot < ENTRIES; slot++) {
      assertThat(entry(slot)).isEqualTo("0000000008010000");
    }
  }

  /** The first three in the ring are right, and behind the last one the first one is again. */
  @Test
  void requestsOutstandingTogetherAreCompletedInTurn() {
    for (int i = 0; i < 4; i++) {
      post(WRITE, 0x100 * i, 64);
    }
    pair.run();

    int offsets = (int) pair.a.engine.completions();
    for (int slot = 0; slot < ENTRIES; slot++) {
      int turn = slot + (offsets - 1 - slot) / ENTRIES * ENTRIES;
      assertThat(entry(slot)).isEqualTo("%02x00000008010000".formatted(turn % 4 * TestCard.SLOT));
    }
    assertLost();
  }

  @Test
  void laterMessagesOfTheQueuePairArriveWithoutCompletion() {
    post(WRITE, 0, 64);
    post(WRITE, 0x100, 64);
    pair.run();
    pair.a.put(0x200, "behind");
    post(WRITE, 0x200, 64);
    pair.run();

    assertThat(pair.packets).endsWith("0a 0 00", "11 0 00");
    assertThat(pair.b.text(0x8200, 6)).isEqualTo("behind");
    assertLost();
  }

  /**
   * Nor have READs, whose answers the card does not look at, nor requests without acknowledgement.
   */
  @Test
  void requestsOfOtherServicesArriveWithoutCompletion() {
    pair.a.connect(7, QpcServiceType.UC, TestPair.B, 7);
    pair.b.connect(7, QpcServiceType.UC, TestPair.A, 7);
    post(WRITE, 0, 64);
    post(WRITE, 0x100, 64);
    pair.run();
    pair.a.put(0x200, "behind");
    pair.a.post(7, WRITE, data(0x8200, 8), data(0x200, 8));
    pair.a.post(BYSTANDER, READ, data(0x8200, 8), data(0x300, 8));
    pair.run();

    assertThat(pair.b.text(0x8200, 6)).isEqualTo("behind");
    assertThat(pair.a.text(0x300, 6)).isNotEqualTo("behind");
    assertThat(pair.a.cqes(7)).isEmpty();
    assertLost();
  }

  @ParameterizedTest
  @CsvSource({"ffffff,64", "ffffff,3000", "fffffe,3000", "fffffd,3000", "fffffa,9000"})
  void readWithTheLastNumberIsGoodAndSoIsWhatFollows(String psn, int length) {
    pair = pair(QpcServiceType.RC, Integer.parseInt(psn, 16));
    pair.b.put(0x8000, "read");
    post(READ, 0, length);
    pair.run();
    post(WRITE, 0x4000, 64);
    post(SEND, 0x5000, 64);
    post(READ, 0x6000, 64);
    pair.run();

    assertThat(pair.a.text(0, 4)).isEqualTo("read");
    assertThat(pair.a.sends(QPN))
        .containsExactly("10010000 00", "08010000 00", "0a010000 00", "10010000 00");
    assertThat(pair.a.hazards.list()).isEmpty();
    assertThat(pair.bothPass()).isTrue();
  }

  @Test
  void readMayBeOutstandingBesideOthers() {
    post(WRITE, 0, 64);
    post(READ, 0x100, 64);
    post(WRITE, 0x200, 64);
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly("08010000 00", "10010000 00", "08010000 00");
    assertThat(pair.a.hazards.list()).isEmpty();
  }

  @Test
  void unreliableMessagesAreGood() {
    pair = pair(QpcServiceType.UC, 0xff_fffe);
    for (int i = 0; i < 3; i++) {
      post(WRITE, 0x1000 * i, 3000);
      post(SEND, 0x1000 * i, 3000);
    }
    pair.run();

    assertThat(pair.a.sends(QPN)).hasSize(6).allMatch(cqe -> cqe.endsWith("010000 00"));
    assertThat(pair.b.receives(QPN)).isEqualTo(3);
    assertThat(pair.a.hazards.list()).isEmpty();
  }

  @Test
  void datagramsAreGood() {
    pair = pair(QpcServiceType.UD, 0xff_fffe);
    for (int i = 0; i < 4; i++) {
      pair.b.receive(QPN, data(0x8000, 64));
      pair.a.datagram(QPN, SEND, TestPair.B, QPN, data(0, 8));
    }
    pair.run();

    assertThat(pair.a.sends(QPN)).hasSize(4);
    assertThat(pair.b.receives(QPN)).isEqualTo(4);
    assertThat(pair.a.hazards.list()).isEmpty();
  }

  @Test
  void resetEndsIt() {
    post(WRITE, 0, 64);
    post(WRITE, 0x100, 64);
    pair.run();
    pair.a.engine.reset();
    long before = pair.a.engine.completions();
    pair.run();

    assertThat(pair.a.engine.completions()).isEqualTo(before);
    assertThat(pair.bothPass()).isTrue();
  }
}
