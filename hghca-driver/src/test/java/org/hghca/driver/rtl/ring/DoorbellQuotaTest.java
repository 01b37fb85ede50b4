package org.hghca.driver.rtl.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.driver.rtl.ring.QuotaRing.good;
import static org.hghca.driver.rtl.ring.QuotaRing.read;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.IntStream;
import org.hghca.abi.Doorbell;
import org.hghca.abi.NextUnit;
import org.hghca.driver.ring.LockWait;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.Test;

/** No more doorbells are in flight than the card holds, and no held one is lost. */
class DoorbellQuotaTest extends WithQuota {
  @Test
  void oneRingHasAllOfTheCard() {
    QuotaRing ring = ring();
    for (int i = 0; i < MOST + 10; i++) {
      assertThat(ring.ring.post(good())).isTrue();
    }
    assertThat(ring.doorbells).hasSize(MOST);
    assertThat(ring.ring.posted()).isEqualTo(MOST + 10);
    assertThat(ring.ring.doorbells()).isEqualTo(MOST);
  }

  @Test
  void manyRingsHaveFortyTogether() {
    for (int i = 0; i < 100; i++) {
      ring();
    }
    for (int round = 0; round < 20; round++) {
      for (QuotaRing ring : rings) {
        assertThat(ring.ring.post(good())).isTrue();
      }
    }
    assertThat(rung()).isEqualTo(MOST);
    assertThat(inFlight.waiting()).isEqualTo(100);
  }

  /** A queue pair that has nothing to send keeps nothing from one that has. */
  @Test
  void idleRingsGiveTheirSharesToThoseThatWait() {
    for (int i = 0; i < MOST; i++) {
      QuotaRing idle = ring();
      idle.ring.post(good());
      idle.complete();
    }
    QuotaRing busy = ring();
    busy.post(MOST);
    inFlight.ringWaiting();
    assertThat(busy.doorbells).hasSize(MOST);
  }

  /** Each has one outstanding request at a time, and posts the next at once. */
  @Test
  void ringsAreServedInTurn() {
    DoorbellQuota one = QuotaRing.inFlight(1);
    for (int i = 0; i < 256; i++) {
      rings.add(new QuotaRing(QpType.RC, one));
    }
    for (QuotaRing ring : rings) {
      ring.post(20);
    }
    for (int step = 0; step < 5120 - MOST; step++) {
      QuotaRing oldest =
          rings.stream()
              .filter(ring -> ring.ring.rung() > 0)
              .min((a, b) -> a.doorbells.size() - b.doorbells.size())
              .orElseThrow();
      oldest.completeAndRing();
      one.ringWaiting();
      assertThat(rung()).as("the card is full").isEqualTo(MOST + step + 1);
      int most = rings.stream().mapToInt(ring -> ring.doorbells.size()).max().orElseThrow();
      int least = rings.stream().mapToInt(ring -> ring.doorbells.size()).min().orElseThrow();
      assertThat(most - least).as("nobody is passed over").isLessThanOrEqualTo(2);
    }
  }

  @Test
  void heldRequestsAreRungOneByOneAsOthersComplete() {
    QuotaRing ring = ring();
    int all = MOST + 20;
    ring.post(all);
    ring.complete();
    assertThat(ring.doorbells).hasSize(MOST);
    ring.ring.ringHeld();
    inFlight.ringWaiting();
    assertThat(ring.rungSlots()).hasSize(MOST + 1).endsWith(MOST);
    for (int i = 1; i < all; i++) {
      ring.completeAndRing();
      inFlight.ringWaiting();
    }
    assertThat(ring.rungSlots())
        .containsExactlyElementsOf(IntStream.range(0, all).boxed().toList());
    assertThat(inFlight.waiting()).isZero();
  }

  @Test
  void noRequestIsChainedToAnother() {
    QuotaRing ring = ring();
    SendRequest[] list = {good(), good().fence(), good(), good()};
    for (int i = 0; i < 10; i++) {
      ring.ring.post(list, 0, 4);
    }
    for (int slot = 0; slot < 40; slot++) {
      long next = slot * QuotaRing.SLOT;
      assertThat(NextUnit.nextSize16(ring.memory, next)).as("slot %d", slot).isZero();
      assertThat(NextUnit.nextFence(ring.memory, next)).as("slot %d", slot).isZero();
    }
    assertThat(ring.doorbells).hasSize(MOST).noneMatch(doorbell -> Doorbell.fence(doorbell) != 0);
  }

  @Test
  void nextPostRingsHeldRequests() {
    QuotaRing ring = ring();
    ring.post(MOST + 5);
    ring.complete();
    ring.ring.post(good());
    assertThat(ring.rungSlots()).hasSize(MOST + 1).endsWith(MOST);
  }

  @Test
  void requestsOfARingInFlightAreLimitedByItsWindow() {
    QuotaRing ring = new QuotaRing(QpType.RC, QuotaRing.inFlight(1));
    SendRequest[] list = {good(), good(), good()};
    assertThat(ring.ring.post(list, 0, 3)).isEqualTo(3);
    assertThat(ring.ring.post(good())).isTrue();
    for (int i = 0; i < 4; i++) {
      assertThat(ring.rungSlots()).hasSize(i + 1).endsWith(i);
      assertThat(ring.ring.holds()).isEqualTo(i < 3);
      ring.completeAndRing();
    }
  }

  /** The driver completes requests that the card never sees, and a post may still be on its way. */
  @Test
  void nothingIsRungAfterTheStop() {
    QuotaRing ring = new QuotaRing(QpType.RC, QuotaRing.inFlight(1));
    SendRequest[] list = {good(), good(), good(), good()};
    ring.ring.post(list, 0, 4);
    ring.ring.stopRinging();
    for (int i = 0; i < 3; i++) {
      ring.complete();
      ring.ring.flush();
    }
    assertThat(ring.rungSlots()).containsExactly(0);
    assertThat(ring.ring.holds()).isFalse();
  }

  /** Its completion is in the queue, and the program polls for another. */
  @Test
  void completeButUnpolledRequestIsNotInFlight() {
    QuotaRing ring = new QuotaRing(QpType.RC, QuotaRing.inFlight(1));
    SendRequest[] list = {good(), good(), good()};
    ring.ring.post(list, 0, 3);
    assertThat(ring.ring.completeUnpolled(0)).isTrue();
    assertThat(ring.ring.completeUnpolled(0)).as("once").isFalse();
    assertThat(ring.ring.completeUnpolled(2 * (int) QuotaRing.SLOT)).as("not rung").isFalse();
    ring.ring.ringHeld();
    assertThat(ring.rungSlots()).containsExactly(0, 1);
    ring.completeAndRing();
    assertThat(ring.rungSlots()).containsExactly(0, 1);
    ring.completeAndRing();
    assertThat(ring.rungSlots()).containsExactly(0, 1, 2);
  }

  /** They must go although requests always wait. */
  @Test
  void elementsOfTheDriverComeFirst() {
    QuotaRing ring = ring();
    ring.post(MOST + 20);
    QuotaRing ending = ring();
    assertThat(ending.ring.ringFlush()).isFalse();
    ring.completeAndRing();
    inFlight.ringWaiting();
    assertThat(ring.doorbells).hasSize(MOST);
    assertThat(ending.ring.ringFlush()).isTrue();
    ring.completeAndRing();
    inFlight.ringWaiting();
    assertThat(ring.doorbells).hasSize(MOST + 1);
  }

  /** The queue pair is gone meanwhile. */
  @Test
  void roomForAnElementOfTheDriverIsNotKeptForever() {
    QuotaRing ring = ring();
    ring.post(MOST + 20);
    assertThat(ring().ring.ringFlush()).isFalse();
    ring.complete();
    for (int i = 0; i < 3; i++) {
      inFlight.nextTick();
    }
    ring.ring.ringHeld();
    inFlight.ringWaiting();
    assertThat(ring.doorbells).hasSize(MOST + 1);
  }

  /** Its memory may be free. */
  @Test
  void closedRingStaysClosedThoughTooManyCompletionsWereCounted() {
    QuotaRing closed = ring();
    closed.ring.setOpen(() -> false);
    for (int i = 0; i < 3; i++) {
      closed.complete();
    }
    assertThatThrownBy(() -> closed.ring.post(good())).hasMessageContaining("not open");
    assertThat(closed.doorbells).isEmpty();
  }

  @Test
  void requestsDiscardedByAResetAreNotInFlight() {
    QuotaRing first = ring();
    QuotaRing second = ring();
    first.ring.post(read(9000));
    second.ring.post(read(9000));
    assertThat(second.doorbells).isEmpty();
    first.ring.setOpen(() -> false);
    first.ring.reset();
    inFlight.ringWaiting();
    assertThat(second.doorbells).hasSize(1);
  }

  @Test
  void resetRingReturnsItsDoorbells() {
    QuotaRing first = ring();
    first.post(MOST + 10);
    QuotaRing second = ring();
    second.post(10);
    assertThat(second.doorbells).isEmpty();
    first.ring.setOpen(() -> false);
    first.ring.reset();
    inFlight.ringWaiting();
    assertThat(second.doorbells).as("both").hasSize(10);
    assertThat(first.doorbells).as("never rung for again").hasSize(MOST);
    QuotaRing third = ring();
    third.post(MOST);
    assertThat(third.doorbells).as("the share of the first is free again").hasSize(MOST - 10);
  }

  @Test
  void closedRingRingsNoMore() {
    QuotaRing ring = ring();
    ring.post(MOST + 5);
    ring.complete();
    ring.ring.stopRinging();
    assertThat(ring.ring.rung()).isEqualTo(MOST - 1);
    inFlight.ringWaiting();
    assertThat(ring.doorbells).hasSize(MOST);
    for (int i = 0; i < MOST + 4; i++) {
      ring.complete();
    }
    QuotaRing other = ring();
    other.post(MOST);
    inFlight.ringWaiting();
    assertThat(other.doorbells).as("all of the card").hasSize(MOST);
    other.complete();
    ring.ring.setOpen(() -> false);
    ring.ring.reset();
    ring.ring.setOpen(() -> true);
    ring.ring.post(good());
    inFlight.ringWaiting();
    assertThat(ring.doorbells).hasSize(MOST + 1);
  }

  @Test
  void threadThatMeetsADoorbellInProgressWaitsForIt() throws InterruptedException {
    QuotaRing other = ring();
    other.post(MOST);
    QuotaRing ring = ring();
    ring.ring.post(good());
    other.complete();
    List<Integer> seen = Collections.synchronizedList(new ArrayList<>());
    Runnable ringing =
        () -> {
          inFlight.ringWaiting();
          seen.add(ring.doorbells.size());
        };
    ring.lock.lock();
    List<Thread> threads =
        List.of(Thread.ofPlatform().start(ringing), Thread.ofPlatform().start(ringing));
    while (!threads.stream().allMatch(LockWait::isAtALockOrOver)) {
      Thread.onSpinWait();
    }
    ring.lock.unlock();
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(seen).containsExactly(1, 1);
  }

  /** When a doorbell is returned while a request finds none left, one of the two must notice. */
  @Test
  void nothingStaysHeldWhenADoorbellIsReturnedConcurrently() throws InterruptedException {
    QuotaRing other = ring();
    int share = 8;
    other.post(MOST - share);
    QuotaRing ring = ring();
    ring.post(share);
    int rounds = 20_000;
    CyclicBarrier round = new CyclicBarrier(2);
    Thread poller =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (int i = 0; i < rounds; i++) {
                    meet(round);
                    ring.complete();
                    inFlight.ringWaiting();
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
    CyclicBarrier start = new CyclicBarrier(rings.size());
    List<Thread> threads =
        rings.stream()
            .map(
                ring ->
                    Thread.ofPlatform()
                        .start(
                            () -> {
                              meet(start);
                              load(ring);
                            }))
            .toList();
    for (Thread thread : threads) {
      thread.join();
    }
    for (QuotaRing ring : rings) {
      assertThat(ring.ring.posted()).isEqualTo(20_000);
      assertThat(ring.ring.outstanding()).isZero();
    }
    // All doorbells are returned.
    QuotaRing last = ring();
    rings.forEach(ring -> ring.doorbells.clear());
    for (int i = 0; i <= MOST; i++) {
      last.ring.post(good());
    }
    assertThat(last.doorbells).hasSize(MOST);
  }

  /** Posts, completes the rung requests, and never waits for more than that. */
  private void load(QuotaRing ring) {
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
      inFlight.ringWaiting();
    }
  }
}
