package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.TestPair.QPN;
import static org.hghca.model.rtl.TestPair.data;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QpcState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The known behavior of the second RTL, for every seed. */
class R2EngineTest {
  private static final int WRITE = 0x08;
  private static final int SEND = 0x0a;
  private static final int READ = 0x10;

  private TestPair pair = new TestPair(QpcServiceType.RC, 1);

  /** CQEs of a queue, all of which the card owns. */
  private static List<byte[]> cqes(TestCard card, int cqn) {
    List<byte[]> entries = new ArrayList<>();
    for (int at = 0; ; at += 32) {
      MemorySegment entry = card.entry(cqn, at);
      if (entry.get(ValueLayout.JAVA_BYTE, 31) == -1) {
        return entries;
      }
      assertThat(entry.get(ValueLayout.JAVA_BYTE, 31)).isEqualTo((byte) 0x80);
      entries.add(entry.toArray(ValueLayout.JAVA_BYTE));
    }
  }

  private static int receiveQueue() {
    return TestCard.RCQ + QPN;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void sendsWritesAndReadsArriveInTheirOrder(long seed) {
    pair = new TestPair(QpcServiceType.RC, seed);
    pair.a.put(0, "0123456789".repeat(300));
    pair.b.receive(QPN, data(0x8000, 1000), data(0x9000, 3000));
    pair.b.receive(QPN, data(0xa000, 64));
    pair.a.post(QPN, SEND, null, data(0, 3000));
    pair.a.post(QPN, WRITE, data(0xb000, 8), data(8, 5), data(0, 3));
    pair.a.post(QPN, READ, data(0x8000, 2000), data(0xc000, 2000));
    pair.a.post(QPN, SEND, null, data(1, 9));
    pair.run();

    assertThat(pair.b.text(0x8000, 1000)).isEqualTo("0123456789".repeat(100));
    assertThat(pair.b.text(0x9000, 2000)).isEqualTo("0123456789".repeat(200));
    assertThat(pair.b.text(0xa000, 9)).isEqualTo("123456789");
    assertThat(pair.b.text(0xb000, 8)).isEqualTo("89012012");
    assertThat(pair.a.text(0xc000, 1000)).isEqualTo("0123456789".repeat(100));
    assertThat(cqes(pair.a, QPN)).extracting(cqe -> cqe[28]).containsExactly(SEND_READ);
    assertThat(cqes(pair.a, QPN)).allMatch(cqe -> cqe[29] != 0);
    assertThat(cqes(pair.b, receiveQueue())).hasSize(2).allMatch(cqe -> cqe[29] == 0);
    assertThat(pair.a.hazards.list()).isEmpty();
    assertThat(pair.b.hazards.list()).isEmpty();
  }

  private static final Byte[] SEND_READ = {SEND, WRITE, READ, SEND};

  @Test
  void receiveOffsetIsInUnitsOf16Bytes() {
    pair.b.receive(QPN, data(0x8000, 64));
    pair.b.receive(QPN, data(0x8000, 64));
    pair.a.post(QPN, SEND, null, data(0, 8));
    pair.a.post(QPN, SEND, null, data(0, 8));
    pair.run();

    assertThat(cqes(pair.b, receiveQueue()))
        .extracting(cqe -> cqe[24])
        .containsExactly((byte) 0, (byte) 4);
  }

  @Test
  void offsetSizeAndOpcodeOfADoorbellDoNotMatter() {
    pair.a.put(0, "by slot");
    pair.a.post(QPN, WRITE, data(0x8000, 7), data(0, 7));
    pair.a.doorbells.take();
    pair.a.ringDoorbell(QPN, 0x1f, 0, 60);
    pair.run();

    assertThat(pair.b.text(0x8000, 7)).isEqualTo("by slot");
  }

  @Test
  void accessIsNotChecked() {
    pair.a.put(0, "unseen");
    pair.a.queuePair(QPN).state = QpcState.ERR;
    pair.b.queuePair(QPN).state = QpcState.RST;
    pair.b.queuePair(QPN).pd = 99;
    pair.b.register(0x55, 0);
    pair.a.post(QPN, WRITE, new TestCard.Sge(0x55, 0x100, 6), data(0, 6));
    pair.run();

    assertThat(pair.b.text(0x100, 6)).isEqualTo("unseen");
  }

  @Test
  void messageWithoutReceiveIsNeverAnswered() {
    pair.a.post(QPN, SEND, null, data(0, 8));
    pair.run();

    assertThat(cqes(pair.a, QPN)).isEmpty();
    assertThat(pair.packets).hasSize(1);
  }

  @Test
  void atomicStopsTheSendSide() {
    pair.a.post(QPN, 0x11, data(0x8000, 8), data(0, 8));
    pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
    pair.run();

    assertThat(pair.packets).isEmpty();
    assertThat(pair.a.hazards.list()).singleElement().asString().startsWith("12.7: ");
  }

  @Test
  void seedsDifferInUnknownBehavior() {
    Set<String> tails = new HashSet<>();
    for (long seed = 0; seed < 16; seed++) {
      pair = new TestPair(QpcServiceType.RC, seed);
      pair.b.receive(QPN, data(0x8000, 64));
      pair.a.post(QPN, SEND, null, data(0, 8));
      pair.run();
      byte[] cqe = cqes(pair.b, receiveQueue()).getFirst();
      assertThat(cqe[28]).isIn((byte) 2, (byte) 4);
      tails.add(HexFormat.of().formatHex(cqe, 28, 32));
    }

    assertThat(tails).hasSizeGreaterThan(2);
  }

  /** So that a recorded run can be compared with another of the same card, entry by entry. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 50})
  void unknownDetailsDoNotDependOnTheTime(int idleSteps) {
    List<String> atOnce = sixteenEntries(0);

    assertThat(sixteenEntries(idleSteps)).isEqualTo(atOnce);
    assertThat(new HashSet<>(atOnce)).hasSizeGreaterThan(8);
  }

  private List<String> sixteenEntries(int idleSteps) {
    pair = new TestPair(QpcServiceType.RC, 1);
    for (int i = 0; i < 8; i++) {
      pair.b.receive(QPN, data(0x8000, 64));
      for (int idle = 0; idle < idleSteps; idle++) {
        assertThat(pair.a.engine.step(0, 256)).isFalse();
        assertThat(pair.b.engine.step(0, 256)).isFalse();
      }
      pair.a.post(QPN, SEND, null, data(0, 8));
      pair.run();
    }
    return Stream.of(cqes(pair.a, QPN), cqes(pair.b, receiveQueue()))
        .flatMap(List::stream)
        .map(cqe -> HexFormat.of().formatHex(cqe, 24, 32))
        .toList();
  }
}
