package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import org.hghca.abi.HcrCommand;
import org.hghca.vfio.Locator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The card that runs on a thread: rung from many others, stopped, closed. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ThreadedCardTest {
  private static final int READ = 0x10;
  private static final int UNKNOWN = 0x77;
  private static final int THREADS = 4;
  private static final int EACH = 16;
  private static final long MILLISECOND = 1_000_000;

  private static void await(WiredBench card, int qpn, int entry) {
    while (!card.isCompleted(qpn, entry)) {
      Thread.onSpinWait();
    }
  }

  private static void meet(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (InterruptedException | BrokenBarrierException e) {
      throw new AssertionError(e);
    }
  }

  private static void awaitHazard(WiredBench card) {
    while (card.bench.card.hazards().isEmpty()) {
      Thread.onSpinWait();
    }
  }

  @Test
  void noDoorbellOfFourThreadsIsLostWhileTheFifoHasRoom() throws InterruptedException {
    try (WiredBench card = new WiredBench("model:rung?profile=r1")) {
      List<Thread> threads = new ArrayList<>();
      CyclicBarrier together = new CyclicBarrier(THREADS);
      for (int i = 0; i < THREADS; i++) {
        card.connect(2 + i, 2 + i); // to itself
      }
      for (int i = 0; i < THREADS; i++) {
        int qpn = 2 + i;
        threads.add(
            Thread.ofPlatform()
                .start(
                    () -> {
                      // 128 slots in the ring, 64 in the FIFO: twice around, no more than 16 at a
                      // time
                      for (int first = 0; first < 128; first += EACH) {
                        meet(together);
                        for (int j = 0; j < EACH; j++) {
                          card.write(qpn, (first + j) % WiredBench.SLOTS);
                        }
                        await(card, qpn, first + EACH - 1);
                      }
                    }));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(card.bench.card.hazards()).isEmpty();
      assertThat(card.bench.card.counters().completions()).isEqualTo(THREADS * 128);
    }
  }

  /** At most one burst per millisecond; commands of another card of the same thread continue. */
  @Test
  void stormLeavesTimeForOtherCards() {
    try (WiredBench card = new WiredBench("model:storm?profile=r1");
        Bench other = new Bench(Locator.parse("model:calm?profile=r1"))) {
      card.connect(2, 3);
      card.connect(3, 2);
      long begin = System.nanoTime();
      card.post(2, 0, READ, UNKNOWN, 0, 0x1000, 8);
      awaitHazard(card);
      for (int i = 0; i < 1000; i++) {
        other.must(HcrCommand.QUERY_DEV_LIM, 0, 0);
      }
      long sent = card.bench.card.counters().packetsSent();
      long passed = (System.nanoTime() - begin) / MILLISECOND;

      assertThat(sent).isBetween(256L, 300 * (passed + 2));
      assertThat(card.bench.card.hazards()).first().asString().startsWith("12.6");
    }
  }

  @Test
  void cardThatHasStoppedIsClosedAndRecreated() {
    for (int i = 0; i < 3; i++) {
      try (WiredBench card = new WiredBench("model:stopped?profile=r1")) {
        card.connect(2, 2);
        card.write(2, 0);
        await(card, 2, 0);
        card.post(2, 1, 0, WiredBench.DATA, 0, 0, 8);
        awaitHazard(card);
        int hung = card.bench.command(HcrCommand.QUERY_QP.code(), 0, 0, 0x1000, Bench.OUTBOX);
        assertThat(hung).isEqualTo(Bench.HUNG);
      }
    }
  }
}
