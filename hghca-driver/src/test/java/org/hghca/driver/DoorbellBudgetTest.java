package org.hghca.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.driver.CarefulRing.good;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.Test;

/** No more doorbells are in flight than the card keeps, and none that was held back is lost. */
class DoorbellBudgetTest {
  private static final int MOST = 63;

  private final DoorbellBudget budget = new DoorbellBudget(MOST);
  private final List<CarefulRing> rings = new ArrayList<>();

  private CarefulRing ring() {
    CarefulRing ring = new CarefulRing(QpType.RC, budget);
    rings.add(ring);
    return ring;
  }

  private int rung() {
    return rings.stream().mapToInt(ring -> ring.doorbells.size()).sum();
  }

  @Test
  void oneRingHasItsShareAndAllOfTheReserve() {
    CarefulRing ring = ring();
    for (int i = 0; i < 40; i++) {
      assertThat(ring.ring.post(good())).isTrue();
    }
    assertThat(ring.doorbells).hasSize(8 + 16);
    assertThat(budget.held()).isEqualTo(1);
    assertThat(ring.ring.posted()).isEqualTo(40);
    assertThat(ring.ring.doorbells()).isEqualTo(24);
  }

  @Test
  void manyRingsHaveSixtyThreeTogether() {
    for (int i = 0; i < 100; i++) {
      ring();
    }
    for (int round = 0; round < 20; round++) {
      for (CarefulRing ring : rings) {
        assertThat(ring.ring.post(good())).isTrue();
      }
    }
    assertThat(rung()).isEqualTo(MOST);
    assertThat(budget.held()).isEqualTo(95 + 5);
  }

  @Test
  void whatWasHeldBackIsRungForAsOneChainWhenAnotherIsSeen() {
    CarefulRing ring = ring();
    for (int i = 0; i < 40; i++) {
      ring.ring.post(good());
    }
    ring.complete();
    assertThat(ring.doorbells).hasSize(24);
    budget.ringHeld();
    assertThat(ring.rungSlots()).hasSize(25).endsWith(24);
    assertThat(budget.held()).isZero();
    // The chain counts until its first is complete: then the next one has a doorbell again.
    for (int i = 1; i < 24; i++) {
      ring.complete();
    }
    for (int i = 0; i < 23; i++) {
      ring.ring.post(good());
    }
    assertThat(ring.doorbells).hasSize(25 + 23);
    ring.ring.post(good());
    assertThat(ring.doorbells).hasSize(25 + 23);
    ring.complete(); // the 25th
    ring.ring.post(good());
    assertThat(ring.rungSlots()).hasSize(25 + 24).endsWith(63);
  }

  @Test
  void theNextPostRingsForWhatWasHeldBack() {
    CarefulRing ring = ring();
    for (int i = 0; i < 30; i++) {
      ring.ring.post(good());
    }
    ring.complete();
    ring.ring.post(good());
    assertThat(ring.rungSlots()).hasSize(25).endsWith(24);
  }

  @Test
  void aListCountsAsOne() {
    CarefulRing ring = ring();
    SendRequest[] list = {good(), good(), good(), good()};
    for (int i = 0; i < 10; i++) {
      ring.ring.post(list, 0, 4);
    }
    assertThat(ring.doorbells).hasSize(10);
    for (int i = 0; i < 40; i++) {
      ring.complete();
    }
    for (int i = 0; i < 24; i++) {
      ring.ring.post(good());
    }
    assertThat(ring.doorbells).hasSize(34);
  }

  @Test
  void aRingThatIsResetGivesBackWhatItHad() {
    CarefulRing first = ring();
    for (int i = 0; i < 40; i++) {
      first.ring.post(good());
    }
    CarefulRing second = ring();
    for (int i = 0; i < 10; i++) {
      second.ring.post(good());
    }
    assertThat(second.doorbells).hasSize(8);
    first.ring.setOpen(() -> false);
    first.ring.reset();
    budget.ringHeld();
    assertThat(second.doorbells).as("two in one chain").hasSize(9);
    assertThat(first.doorbells).as("never rung for again").hasSize(24);
    for (int i = 0; i < 4; i++) {
      ring();
    }
    for (CarefulRing ring : rings.subList(2, 6)) {
      for (int i = 0; i < 8; i++) {
        ring.ring.post(good());
      }
      assertThat(ring.doorbells).as("the share of the first is free again").hasSize(8);
    }
  }

  @Test
  void aRingThatIsToRingNoMoreDoesNot() {
    CarefulRing ring = ring();
    for (int i = 0; i < 30; i++) {
      ring.ring.post(good());
    }
    ring.complete();
    ring.ring.stopRinging();
    assertThat(ring.ring.rung()).isEqualTo(23);
    ring.ring.post(good());
    budget.ringHeld();
    assertThat(ring.doorbells).hasSize(24);
    for (int i = 0; i < 30; i++) {
      ring.complete();
    }
    CarefulRing other = ring();
    for (int i = 0; i < 24; i++) {
      other.ring.post(good());
    }
    assertThat(other.doorbells).as("the reserve is whole again").hasSize(24);
    ring.ring.setOpen(() -> false);
    ring.ring.reset();
    ring.ring.setOpen(() -> true);
    ring.ring.post(good());
    assertThat(ring.doorbells).hasSize(25);
  }

  @Test
  void whoComesWhileAnotherIsAboutToRingWaitsForThat() throws InterruptedException {
    CarefulRing ring = ring();
    for (int i = 0; i < 25; i++) {
      ring.ring.post(good());
    }
    ring.complete();
    List<Integer> seen = Collections.synchronizedList(new ArrayList<>());
    Runnable ringing =
        () -> {
          budget.ringHeld();
          seen.add(ring.doorbells.size());
        };
    ring.lock.lock();
    List<Thread> threads =
        List.of(Thread.ofPlatform().start(ringing), Thread.ofPlatform().start(ringing));
    while (!threads.stream().allMatch(DoorbellBudgetTest::isAtALockOrOver)) {
      Thread.onSpinWait();
    }
    ring.lock.unlock();
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(seen).containsExactly(25, 25);
  }

  private static boolean isAtALockOrOver(Thread thread) {
    return !thread.isAlive()
        || Arrays.stream(thread.getStackTrace())
            .anyMatch(frame -> frame.getClassName().equals(SpinLock.class.getName()));
  }

  /** Of one that is given back while a request finds none left, one of the two has to know. */
  @Test
  void nothingStaysHeldBackWhenOneIsGivenBackAtThatMoment() throws InterruptedException {
    CarefulRing other = ring();
    for (int i = 0; i < 24; i++) {
      other.ring.post(good()); // the reserve is empty
    }
    CarefulRing ring = ring();
    int share = 8;
    for (int i = 0; i < share; i++) {
      ring.ring.post(good());
    }
    int rounds = 20_000;
    CyclicBarrier round = new CyclicBarrier(2);
    Thread poller =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (int i = 0; i < rounds; i++) {
                    meet(round);
                    ring.complete();
                    budget.ringHeld();
                    meet(round);
                  }
                });
    int left = 0;
    for (int i = 0; i < rounds; i++) {
      meet(round);
      ring.ring.post(good());
      meet(round);
      left += ring.ring.outstanding() - ring.ring.rung();
    }
    poller.join();
    assertThat(left).isZero();
  }

  private static void meet(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (InterruptedException | BrokenBarrierException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void manyThreadsLoseNoDoorbell() throws InterruptedException {
    for (int i = 0; i < 12; i++) {
      ring();
    }
    List<Thread> threads =
        rings.stream().map(ring -> Thread.ofPlatform().start(() -> load(ring))).toList();
    for (Thread thread : threads) {
      thread.join();
    }
    for (CarefulRing ring : rings) {
      assertThat(ring.ring.posted()).isEqualTo(20_000);
      assertThat(ring.ring.outstanding()).isZero();
    }
    // All has come back.
    CarefulRing last = ring();
    rings.forEach(ring -> ring.doorbells.clear());
    for (int i = 0; i < 17; i++) {
      last.ring.post(good());
    }
    assertThat(last.doorbells).hasSize(16);
  }

  /** Posts, completes what was rung for, and never waits for more than that. */
  private void load(CarefulRing ring) {
    SendRequest request = good();
    int posted = 0;
    int completed = 0;
    while (completed < 20_000) {
      if (posted < 20_000 && ring.ring.post(request)) {
        posted++;
      }
      int mayComplete = ring.ring.rung();
      for (int i = 0; i < mayComplete; i++) {
        ring.complete();
        completed++;
      }
      budget.ringHeld();
    }
  }
}
