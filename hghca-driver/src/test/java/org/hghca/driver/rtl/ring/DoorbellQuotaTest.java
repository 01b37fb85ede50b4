package org.hghca.driver.rtl.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.driver.rtl.ring.QuotaRing.good;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.IntStream;
import org.hghca.abi.Doorbell;
import org.hghca.abi.NextUnit;
import org.hghca.driver.ring.LockWait;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No more doorbells are in flight than the card holds, and no held one is lost. */
class DoorbellQuotaTest {
  private static final int MOST = 40;

  private final DoorbellQuota inFlight = QuotaRing.inFlight(MOST);
  private final List<QuotaRing> rings = new ArrayList<>();

  private QuotaRing ring() {
    QuotaRing ring = new QuotaRing(QpType.RC, inFlight);
    rings.add(ring);
    return ring;
  }

  private int rung() {
    return rings.stream().mapToInt(ring -> ring.doorbells.size()).sum();
  }

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
    for (int i = 0; i < MOST; i++) {
      busy.ring.post(good());
    }
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
      for (int i = 0; i < 20; i++) {
        ring.ring.post(good());
      }
    }
    for (int step = 0; step < 5120 - MOST; step++) {
      QuotaRing oldest =
          rings.stream()
              .filter(ring -> ring.ring.rung() > 0)
              .min((a, b) -> a.doorbells.size() - b.doorbells.size())
              .orElseThrow();
      oldest.complete();
      oldest.ring.ringHeld();
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
    for (int i = 0; i < all; i++) {
      ring.ring.post(good());
    }
    ring.complete();
    assertThat(ring.doorbells).hasSize(MOST);
    ring.ring.ringHeld();
    inFlight.ringWaiting();
    assertThat(ring.rungSlots()).hasSize(MOST + 1).endsWith(MOST);
    for (int i = 1; i < all; i++) {
      ring.complete();
      ring.ring.ringHeld();
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
    for (int i = 0; i < MOST + 5; i++) {
      ring.ring.post(good());
    }
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
      ring.complete();
      ring.ring.ringHeld();
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
    ring.complete();
    ring.ring.ringHeld();
    assertThat(ring.rungSlots()).containsExactly(0, 1);
    ring.complete();
    ring.ring.ringHeld();
    assertThat(ring.rungSlots()).containsExactly(0, 1, 2);
  }

  @Test
  void fencedRequestAndAllBehindItWaitForTheReadsBefore() {
    QuotaRing ring = new QuotaRing(QpType.RC, QuotaRing.inFlight(8));
    ring.ring.post(read(8)); // from here on no READ waits for requests without bytes
    ring.complete();
    SendRequest[] list = {good(), read(8), good(), good().fence(), good()};
    ring.ring.post(list, 0, 5);
    assertThat(ring.rungSlots()).containsExactly(0, 1, 2, 3);
    ring.complete();
    ring.ring.ringHeld();
    assertThat(ring.rungSlots()).as("the READ is not complete").containsExactly(0, 1, 2, 3);
    ring.complete();
    ring.ring.ringHeld();
    assertThat(ring.rungSlots()).containsExactly(0, 1, 2, 3, 4, 5);
    ring.ring.post(good().fence());
    assertThat(ring.rungSlots()).as("no READ before it").hasSize(7);
  }

  private static SendRequest read(int bytes) {
    return QuotaRing.request()
        .rdmaRead(QuotaRing.REMOTE, QuotaRing.RKEY)
        .sge(QuotaRing.MEMORY.start(), bytes, QuotaRing.MEMORY.key());
  }

  private static SendRequest write(int bytes) {
    return QuotaRing.request()
        .rdmaWrite(QuotaRing.REMOTE, QuotaRing.RKEY)
        .sge(QuotaRing.MEMORY.start(), bytes, QuotaRing.MEMORY.key());
  }

  @Test
  void bytesOfReadsInFlightAreLimitedOverAllRings() {
    List<QuotaRing> several = List.of(ring(), ring(), ring(), ring());
    several.get(0).ring.post(read(480));
    several.get(1).ring.post(read(385)); // 13 beats of 32
    assertThat(rung()).as("896 bytes").isEqualTo(2);
    several.get(2).ring.post(read(1));
    several.get(3).ring.post(write(100));
    assertThat(rung()).as("they wait, and all behind them").isEqualTo(2);
    several.get(1).complete();
    inFlight.ringWaiting();
    assertThat(rung()).isEqualTo(4);
  }

  @Test
  void allBytesAreLimitedWhileThereIsARead() {
    List<QuotaRing> several = List.of(ring(), ring(), ring(), ring());
    several.get(0).ring.post(read(96));
    several.get(1).ring.post(write(2976));
    several.get(2).ring.post(write(1000));
    assertThat(rung()).as("4096 bytes").isEqualTo(3);
    several.get(3).ring.post(write(1));
    assertThat(several.get(3).doorbells).isEmpty();
    several.get(0).complete();
    inFlight.ringWaiting();
    assertThat(several.get(3).doorbells).as("without a READ there is no limit").hasSize(1);
  }

  @Test
  void requestLongerThanTheLimitGoesWithoutReads() {
    QuotaRing reader = ring();
    QuotaRing writer = ring();
    reader.ring.post(read(32));
    writer.ring.post(write(9000));
    assertThat(writer.doorbells).isEmpty();
    reader.complete();
    inFlight.ringWaiting();
    assertThat(writer.doorbells).hasSize(1);
    reader.ring.post(read(32));
    assertThat(reader.doorbells).as("the READ waits for it").hasSize(1);
    writer.complete();
    inFlight.ringWaiting();
    assertThat(reader.doorbells).hasSize(2);
  }

  /** Before it nobody counts bytes. */
  @Test
  void firstReadOfTheCardWaitsForAllThatWasRungBefore() {
    QuotaRing writer = ring();
    QuotaRing reader = ring();
    writer.ring.post(write(9000));
    writer.ring.post(write(9000));
    reader.ring.post(read(32));
    writer.complete();
    inFlight.ringWaiting();
    assertThat(reader.doorbells).isEmpty();
    writer.complete();
    inFlight.ringWaiting();
    assertThat(reader.doorbells).hasSize(1);
  }

  /** What a ring keeps for its next message is no message. */
  @Test
  void idleSharesOfLongMessagesGiveWayToReads() {
    QuotaRing reader = ring();
    reader.ring.post(read(32));
    reader.complete();
    for (int i = 0; i < 5; i++) {
      QuotaRing idle = ring();
      idle.ring.post(write(9000));
      idle.complete();
    }
    reader.ring.post(read(512));
    inFlight.ringWaiting();
    assertThat(reader.doorbells).hasSize(2);
    reader.ring.post(write(3584));
    assertThat(reader.doorbells).as("4096 bytes").hasSize(3);
  }

  /** A request of a ring, as the card sees it. */
  private record InFlight(boolean read, int bytes) {
    int beats() {
      return Math.ceilDiv(bytes, 32);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4, 12})
  void limitsHoldForAnyOrderOfRequestsAndCompletions(int window) {
    DoorbellQuota limits = QuotaRing.inFlight(window);
    SplittableRandom random = new SplittableRandom(window);
    List<ArrayDeque<InFlight>> posted = new ArrayList<>();
    int[] done = new int[60];
    for (int i = 0; i < done.length; i++) {
      rings.add(new QuotaRing(QpType.RC, limits));
      posted.add(new ArrayDeque<>());
    }
    int most = 0;
    for (int step = 0; step < 100_000; step++) {
      int busy = step / 2000 % 2 == 0 ? 2 : done.length; // few, so that none waits, or many
      int i = random.nextInt(busy);
      QuotaRing ring = rings.get(i);
      boolean reads = step / 1000 % 3 != 0; // and none for some time
      if (random.nextBoolean() && posted.get(i).size() < 16) {
        boolean read = reads && random.nextInt(4) == 0;
        int longest = read ? 512 : random.nextInt(8) == 0 ? 65_536 : 300;
        int bytes = random.nextInt(1, longest + 1);
        posted.get(i).add(new InFlight(read, bytes));
        ring.ring.post(read ? read(bytes) : write(bytes));
      } else if (ring.doorbells.size() > done[i]) {
        ring.complete();
        posted.get(i).remove();
        done[i]++;
        ring.ring.ringHeld();
        limits.ringWaiting();
      }
      most = Math.max(most, check(posted, done));
    }
    assertThat(most).as("the card is used").isEqualTo(MOST);
    for (boolean any = true; any; ) {
      any = false;
      for (int i = 0; i < done.length; i++) {
        if (rings.get(i).doorbells.size() > done[i]) {
          any = true;
          rings.get(i).complete();
          posted.get(i).remove();
          done[i]++;
          rings.get(i).ring.ringHeld();
          limits.ringWaiting();
        }
      }
    }
    assertThat(posted).as("each was rung").allMatch(ArrayDeque::isEmpty);
  }

  /** The limits, by what was rung; returns the number of requests in flight. */
  private int check(List<ArrayDeque<InFlight>> posted, int[] done) {
    int requests = 0;
    int readBeats = 0;
    int beats = 0;
    for (int i = 0; i < done.length; i++) {
      int rung = rings.get(i).doorbells.size() - done[i];
      requests += rung;
      for (InFlight request : posted.get(i)) {
        if (--rung < 0) {
          break;
        }
        beats += request.beats();
        readBeats += request.read ? request.beats() : 0;
      }
    }
    if (requests > MOST || readBeats > 896 / 32 || readBeats > 0 && beats > 4096 / 32) {
      throw new AssertionError(
          "%d requests, READs of %d beats, %d beats".formatted(requests, readBeats, beats));
    }
    return requests;
  }

  @Test
  void waitingReadIsNotOvertaken() {
    List<QuotaRing> several = List.of(ring(), ring(), ring(), ring());
    several.get(0).ring.post(read(500));
    several.get(1).ring.post(read(512));
    several.get(2).ring.post(read(100));
    several.get(3).ring.post(write(8));
    assertThat(rung()).as("the others wait for their turn").isEqualTo(1);
    several.get(0).complete();
    inFlight.ringWaiting();
    assertThat(rung()).isEqualTo(4);
  }

  /** They must go although requests always wait. */
  @Test
  void elementsOfTheDriverComeFirst() {
    QuotaRing ring = ring();
    for (int i = 0; i < MOST + 20; i++) {
      ring.ring.post(good());
    }
    QuotaRing ending = ring();
    assertThat(ending.ring.ringFlush()).isFalse();
    ring.complete();
    ring.ring.ringHeld();
    inFlight.ringWaiting();
    assertThat(ring.doorbells).hasSize(MOST);
    assertThat(ending.ring.ringFlush()).isTrue();
    ring.complete();
    ring.ring.ringHeld();
    inFlight.ringWaiting();
    assertThat(ring.doorbells).hasSize(MOST + 1);
  }

  /** The queue pair is gone meanwhile. */
  @Test
  void roomForAnElementOfTheDriverIsNotKeptForever() {
    QuotaRing ring = ring();
    for (int i = 0; i < MOST + 20; i++) {
      ring.ring.post(good());
    }
    assertThat(ring().ring.ringFlush()).isFalse();
    ring.complete();
    for (int i = 0; i < 3; i++) {
      inFlight.nextTick();
    }
    ring.ring.ringHeld();
    inFlight.ringWaiting();
    assertThat(ring.doorbells).hasSize(MOST + 1);
  }

  @Test
  void longReadIsSplit() {
    QuotaRing ring = ring();
    SendRequest request =
        QuotaRing.request()
            .rdmaRead(QuotaRing.REMOTE + 4096, QuotaRing.RKEY)
            .sge(QuotaRing.MEMORY.start(), 1500, QuotaRing.MEMORY.key())
            .sge(QuotaRing.MEMORY.start() + 8192, 1000, QuotaRing.MEMORY.key());
    ring.ring.post(good());
    ring.ring.post(request);
    ring.ring.post(good());
    assertThat(ring.rungSlots()).as("it waits for all before").containsExactly(0);
    ring.complete();
    ring.ring.ringHeld();
    assertThat(ring.rungSlots()).as("all behind waits for it").containsExactly(0, 1);
    assertThat(ring.units(1)).containsExactly("0 0+512");
    for (List<String> piece :
        List.of(
            List.of("512 512+512"),
            List.of("1024 1024+476", "1024 8192+36"),
            List.of("1536 8228+512"),
            List.of("2048 8740+452"))) {
      assertThat(ring.ring.completeStep((int) QuotaRing.SLOT)).isTrue();
      assertThat(ring.ring.names(QuotaRing.MEMORY.key())).isTrue();
      ring.ring.ringHeld();
      assertThat(ring.units(1)).containsExactlyElementsOf(piece);
    }
    assertThat(ring.rungSlots()).containsExactly(0, 1, 1, 1, 1, 1);
    assertThat(ring.ring.holds()).isTrue();
    assertThat(ring.ring.completeStep((int) QuotaRing.SLOT)).as("the last one").isFalse();
    assertThat(ring.complete().byteLength(0)).isEqualTo(2500);
    ring.ring.ringHeld();
    assertThat(ring.rungSlots()).containsExactly(0, 1, 1, 1, 1, 1, 2);
    assertThat(ring.ring.packets()).as("of 256 bytes").isEqualTo(1 + 4 * 2 + 2 + 1);
  }

  /** The program may not poll for it, so another thread must check. */
  @Test
  void longReadInProgressCountsAsHeld() {
    QuotaRing ring = ring();
    ring.ring.post(read(513));
    assertThat(ring.ring.holds()).isTrue();
    assertThat(ring.ring.completeStep(0)).isTrue();
    assertThat(ring.ring.holds()).isTrue();
    ring.ring.ringHeld();
    assertThat(ring.ring.holds()).as("the last piece").isFalse();
  }

  @Test
  void longReadIsFlushedAsAWholeBetweenTwoParts() {
    QuotaRing ring = ring();
    ring.ring.post(read(5000));
    ring.ring.post(good());
    assertThat(ring.ring.completeStep(0)).isTrue();
    ring.ring.stopRinging();
    ring.ring.ringHeld();
    assertThat(ring.doorbells).hasSize(1);
    assertThat(ring.ring.rung()).as("nothing is under way").isZero();
    assertThat(ring.ring.isOldestUnrung()).isTrue();
    ring.complete();
    assertThat(ring.ring.isOldestUnrung()).isTrue();
    ring.complete();
    assertThat(ring.ring.outstanding()).isZero();
    QuotaRing other = ring();
    other.ring.post(read(512));
    assertThat(other.doorbells).as("all bytes have come back").hasSize(1);
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
    for (int i = 0; i < MOST + 10; i++) {
      first.ring.post(good());
    }
    QuotaRing second = ring();
    for (int i = 0; i < 10; i++) {
      second.ring.post(good());
    }
    assertThat(second.doorbells).isEmpty();
    first.ring.setOpen(() -> false);
    first.ring.reset();
    inFlight.ringWaiting();
    assertThat(second.doorbells).as("both").hasSize(10);
    assertThat(first.doorbells).as("never rung for again").hasSize(MOST);
    QuotaRing third = ring();
    for (int i = 0; i < MOST; i++) {
      third.ring.post(good());
    }
    assertThat(third.doorbells).as("the share of the first is free again").hasSize(MOST - 10);
  }

  @Test
  void closedRingRingsNoMore() {
    QuotaRing ring = ring();
    for (int i = 0; i < MOST + 5; i++) {
      ring.ring.post(good());
    }
    ring.complete();
    ring.ring.stopRinging();
    assertThat(ring.ring.rung()).isEqualTo(MOST - 1);
    inFlight.ringWaiting();
    assertThat(ring.doorbells).hasSize(MOST);
    for (int i = 0; i < MOST + 4; i++) {
      ring.complete();
    }
    QuotaRing other = ring();
    for (int i = 0; i < MOST; i++) {
      other.ring.post(good());
    }
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
    for (int i = 0; i < MOST; i++) {
      other.ring.post(good());
    }
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
    for (int i = 0; i < MOST - share; i++) {
      other.ring.post(good());
    }
    QuotaRing ring = ring();
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
