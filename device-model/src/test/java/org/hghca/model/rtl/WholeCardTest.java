package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.hghca.abi.Bar;
import org.hghca.abi.HcrCommand;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The data path with the registers, and the effect of a reset on a card that has stopped. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WholeCardTest {
  private static final int READ = 0x10;
  private static final int UNKNOWN = 0x77;
  private static final String INLINE = "model:whole?mode=inline&profile=r1";

  private static WiredBench wired(String locator) {
    WiredBench card = new WiredBench(locator);
    card.connect(2, 3);
    card.connect(3, 2);
    return card;
  }

  private static void assertWorks(WiredBench card, int slot) {
    card.put(0x1000 + 64L * slot, "it works, it did");
    card.write(2, slot);
    assertThat(card.text(0x2000 + 64L * slot, 16)).isEqualTo("it works, it did");
  }

  @Test
  void writeGoesFromDoorbellToCompletion() {
    try (WiredBench card = wired(INLINE)) {
      assertWorks(card, 0);
      assertThat(card.isCompleted(2, 0)).isTrue();
      assertThat(card.bench.card.hazards()).isEmpty();
      assertThat(card.bench.card.faults()).isEmpty();
    }
  }

  @Test
  void sameInputGivesTheSameOrder() {
    List<List<String>> runs = new ArrayList<>();
    for (int run = 0; run < 2; run++) {
      try (WiredBench card = wired(INLINE)) {
        for (int slot = 0; slot < WiredBench.SLOTS; slot++) {
          card.post(2, slot, slot % 3 == 0 ? READ : 8, WiredBench.DATA, 0x2000, 0x4000, 3000);
          card.write(3, slot);
        }
        runs.add(List.copyOf(card.bench.accesses));
      }
    }
    assertThat(runs.getFirst()).hasSizeGreaterThan(500).isEqualTo(runs.getLast());
  }

  @Test
  void commandsAnswerWhileTheDataPathHasStopped() {
    try (WiredBench card = wired(INLINE)) {
      card.post(2, 0, 8, WiredBench.DATA, 0, 0, 0); // an empty message
      card.write(2, 1);

      assertThat(card.isCompleted(2, 0)).isFalse();
      assertThat(card.bench.command(HcrCommand.NOP, 0, 0x1f)).isEqualTo(Bench.BAD_OP);
      assertThat(card.bench.query(2)).isEqualTo(Bench.OK);
    }
  }

  @Test
  void storeOfHalfADoorbellStopsTheSendSide() {
    try (WiredBench card = wired(INLINE)) {
      card.bench.card.write(Bar.BAR2, 0, 4, 0x08);
      card.write(2, 0);

      assertThat(card.isCompleted(2, 0)).isFalse();
      assertThat(card.bench.card.hazards()).singleElement().asString().startsWith("12.7");
    }
  }

  @Test
  void refusedReadWritesTheImageOfQueuePairZero() {
    try (WiredBench card = wired(INLINE)) {
      card.bench.memory.asSlice(Bench.QPC_PAGE, 256).fill((byte) 0x5a);
      card.post(2, 0, READ, UNKNOWN, 0, 0x1000, 8);

      byte[] image = card.bench.memory.asSlice(Bench.QPC_PAGE, 256).toArray(ValueLayout.JAVA_BYTE);
      assertThat(image).contains(0).contains(0x5a);
      assertThat(card.isCompleted(2, 0)).isFalse();
      assertThat(card.bench.card.hazards()).first().asString().startsWith("12.6");
    }
  }

  @Test
  void stormContinuesWithTimeAndBlocksNothingElse() {
    try (WiredBench card = wired(INLINE)) {
      card.post(2, 0, READ, UNKNOWN, 0, 0x1000, 8);
      long sent = card.bench.card.counters().packetsSent();
      for (int i = 0; i < 10; i++) {
        card.bench.card.simulation().advance(Duration.ofMillis(1));
      }

      long more = card.bench.card.counters().packetsSent() - sent;
      assertThat(more).isBetween(10L * 200, 10L * 300);
    }
  }

  @Test
  void resetRecoversEverythingThatHasStopped() {
    try (WiredBench card = wired(INLINE)) {
      List<Runnable> harms =
          List.of(
              () -> card.post(2, 0, READ, UNKNOWN, 0, 0x1000, 8), // the storm
              () -> card.post(2, 0, 8, WiredBench.DATA, 0, 0, 0), // both streams
              () -> card.post(2, 0, 8, WiredBench.DATA, 0x1ff6, 0, 20), // the write channel
              () -> card.post(2, 0, READ, WiredBench.DATA, 0, 0, 0), // CQEs
              () -> card.post(2, 0, 0x1f, WiredBench.DATA, 0, 0, 8), // the parser
              () -> card.post(2, 0, 0, WiredBench.DATA, 0, 0, 8), // all
              () -> card.bench.command(HcrCommand.QUERY_QP.code(), 0, 0, 0x1000, Bench.OUTBOX),
              () -> card.bench.command(HcrCommand.RESIZE_CQ, 0, 2),
              () -> card.bench.command(HcrCommand.ERR2RST.code(), 3, 0, 2, 0),
              () -> {
                for (int i = 0; i < 3; i++) {
                  card.bench.readInt(Bar.HCR_DOCUMENT);
                }
              },
              () -> card.bench.card.write(Bar.BAR0, 8, 1, 0));
      for (Runnable harm : harms) {
        harm.run();
        card.bench.card.reset();
        card.bench.master();
        card.bringUp();
        card.connect(2, 3);
        card.connect(3, 2);
        assertWorks(card, 0);
        assertThat(card.isCompleted(2, 0)).isTrue();
      }
    }
  }
}
