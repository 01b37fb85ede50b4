package org.hghca.driver.rtl.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.driver.rtl.ring.QuotaRing.good;
import static org.hghca.driver.rtl.ring.QuotaRing.read;
import static org.hghca.driver.rtl.ring.QuotaRing.write;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** READs in flight, whose bytes the whole card limits, and long ones in parts. */
class ReadQuotaTest extends WithQuota {
  @Test
  void fencedRequestAndAllBehindItWaitForTheReadsBefore() {
    QuotaRing ring = new QuotaRing(QpType.RC, QuotaRing.inFlight(8));
    ring.ring.post(read(8)); // from here on no READ waits for requests without bytes
    ring.complete();
    SendRequest[] list = {good(), read(8), good(), good().fence(), good()};
    ring.ring.post(list, 0, 5);
    assertThat(ring.rungSlots()).containsExactly(0, 1, 2, 3);
    ring.completeAndRing();
    assertThat(ring.rungSlots()).as("the READ is not complete").containsExactly(0, 1, 2, 3);
    ring.completeAndRing();
    assertThat(ring.rungSlots()).containsExactly(0, 1, 2, 3, 4, 5);
    ring.ring.post(good().fence());
    assertThat(ring.rungSlots()).as("no READ before it").hasSize(7);
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
    ring.completeAndRing();
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
}
