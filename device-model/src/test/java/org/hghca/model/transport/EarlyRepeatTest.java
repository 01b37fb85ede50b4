package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Losses that no packet shows, on a medium that loses packets. */
class EarlyRepeatTest {
  private static final long LEAST = EarlyRepeat.LEAST;

  private final Line line = line(true);

  private static Line line(boolean losesPackets) {
    Line line = new Line();
    line.losesPackets = losesPackets;
    for (Station station : List.of(line.a, line.b)) {
      station.transport.reset(Station.QPN);
      station.transport.modified(Station.QPN, QueuePairState.RTS);
    }
    return line;
  }

  private static void write(Line on, int position) {
    on.a.post(Station.request(SendOperation.WRITE, position, 0, 0, 8));
    on.run();
  }

  private long timeout() {
    return 4096L << line.a.ackTimeout;
  }

  private void assertRepeatedOnce() {
    assertThat(line.a.done)
        .extracting(Station.Done::status)
        .containsExactly(WorkStatus.SUCCESS, WorkStatus.SUCCESS);
    assertThat(line.now).isEqualTo(LEAST);
    assertThat(line.a.transport.counters().timeouts).isZero();
    assertThat(line.a.transport.counters().retries).isOne();
    assertThat(line.a.transport.nextDeadline()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void lostLastRequestIsRepeated() {
    write(line, 0); // packets 0 and 1
    line.loses = number -> number == 2;
    write(line, 1);
    assertThat(line.pass()).isTrue();
    assertRepeatedOnce();
    assertThat(line.b.transport.counters().duplicates).isZero();
  }

  @Test
  void lostAcknowledgementIsAskedForAgain() {
    write(line, 0);
    line.loses = number -> number == 3;
    write(line, 1);
    assertThat(line.pass()).isTrue();
    assertRepeatedOnce();
    assertThat(line.b.transport.counters().duplicates).isOne();
  }

  /** Nobody knows how far away the peer is. */
  @Test
  void beforeTheFirstAnswerTheTimeoutIsAwaited() {
    line.loses = number -> number == 0;
    write(line, 0);
    assertThat(line.pass()).isTrue();
    assertThat(line.now).isEqualTo(timeout());
    assertThat(line.a.transport.counters().timeouts).isOne();
    assertThat(line.a.done).hasSize(1);
  }

  @Test
  void delaysDouble() {
    write(line, 0);
    line.loses = number -> true;
    write(line, 1);
    List<Long> repeats = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      line.pass();
      repeats.add(line.now);
    }
    assertThat(repeats).containsExactly(LEAST, 3 * LEAST, 7 * LEAST, 15 * LEAST);
  }

  /** The link is full: what is about to be repeated is not repeated once more. */
  @Test
  void delaysDoubleOnlyWithRepeats() {
    write(line, 0);
    line.loses = number -> true;
    write(line, 1);
    line.room = false;
    List<Long> wakes = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      line.pass();
      wakes.add(line.now);
    }
    assertThat(wakes).containsExactly(LEAST, 3 * LEAST, 5 * LEAST, 7 * LEAST);
    assertThat(retries()).isOne();
  }

  /** Nobody knows how far away the peer is by the alternate path. */
  @Test
  void afterAMigrationTheTimeoutIsAwaited() {
    line.a.migration = Migration.ARMED;
    line.b.migration = Migration.ARMED;
    line.a.retryCount = 0;
    write(line, 0);
    line.loses = number -> true;
    write(line, 1);
    while (line.a.migration == Migration.ARMED) {
      assertThat(line.pass()).isTrue();
    }
    assertThat(line.a.events).contains(QueuePairEvent.PATH_MIGRATED);
    assertThat(line.now).isEqualTo(timeout());
    assertThat(line.a.transport.nextDeadline()).isEqualTo(2 * timeout());
    line.loses = number -> false;
    passUntilDone(2);
    assertThat(line.now).isEqualTo(2 * timeout());
  }

  /** A far peer: the delay follows the round trips. */
  @Test
  void farPeerGetsMoreTime() {
    EarlyRepeat early = new EarlyRepeat(true);
    assertThat(early.delay()).isEqualTo(Long.MAX_VALUE);
    early.sent(5, 0);
    early.sent(6, 1);
    early.progress(5, 10_000_000, PeerLoad.unlimited()); // what was before
    assertThat(early.delay()).isEqualTo(Long.MAX_VALUE);
    early.progress(6, 100_000_000, PeerLoad.unlimited());
    assertThat(early.delay()).isEqualTo(400_000_000);
    early.sent(7, 200_000_000);
    early.rewound(); // the answer may be for either
    early.progress(8, 201_000_000, PeerLoad.unlimited());
    assertThat(early.delay()).isEqualTo(400_000_000);
    early.sent(8, 300_000_000);
    early.progress(9, 320_000_000, PeerLoad.unlimited());
    assertThat(early.delay()).isEqualTo(360_000_000);
  }

  /** The acknowledgement of a repeated packet tells no time, and does not end the doubled delay. */
  @Test
  void doubledDelayStaysUntilAPacketThatWasSentOnceIsAcknowledged() {
    EarlyRepeat early = new EarlyRepeat(true);
    early.sent(0, 0);
    early.progress(1, 2_000_000, PeerLoad.unlimited());
    early.repeated();
    early.rewound();
    early.progress(2, 30_000_000, PeerLoad.unlimited());
    assertThat(early.delay()).isEqualTo(16_000_000);
    early.sent(2, 30_000_000);
    early.progress(3, 32_000_000, PeerLoad.unlimited());
    assertThat(early.delay()).isEqualTo(8_000_000);
  }

  private long retries() {
    return line.a.transport.counters().retries;
  }

  private void passUntilDone(int count) {
    while (line.a.done.size() < count) {
      assertThat(line.pass()).isTrue();
    }
  }

  private void writeInTurn(int from, int to) {
    for (int i = from; i < to; i++) {
      write(line, i);
      passUntilDone(i + 1);
    }
  }

  /** Nothing is lost: the round trip grows from 1 to 30 ms, and then to 90 ms. */
  @Test
  void repeatsToAPeerThatHasBecomeSlowerStop() {
    line.a.ackTimeout = 18; // 1.07 s
    line.delay = 500_000;
    writeInTurn(0, 10);
    assertThat(retries()).isZero();
    line.delay = 15_000_000;
    writeInTurn(10, 20);
    assertThat(retries()).isBetween(1L, 8L);
    long before = retries();
    writeInTurn(20, 60);
    assertThat(retries()).isEqualTo(before);
    line.delay = 45_000_000;
    writeInTurn(60, 100);
    assertThat(retries() - before).isLessThan(8);
    assertThat(line.a.transport.counters().timeouts).isZero();
  }

  @Test
  void repeatsOfAStreamToAPeerThatHasBecomeSlowerStop() {
    line.a.ackTimeout = 18;
    line.delay = 500_000;
    writeInTurn(0, 10);
    line.delay = 15_000_000;
    for (int i = 10; i < 2010; i++) {
      write(line, i);
    }
    passUntilDone(1000);
    long before = retries();
    assertThat(before).isBetween(1L, 10L);
    passUntilDone(2010);
    assertThat(retries()).isEqualTo(before);
  }

  @Test
  void goneOneIsGivenUpAsWithoutRepeats() {
    Line plain = line(false);
    for (Line each : List.of(line, plain)) {
      each.a.ackTimeout = 17; // 8 of them are longer than the least silence
      write(each, 0);
      each.loses = number -> true;
      write(each, 1);
      while (each.a.done.size() < 2) {
        assertThat(each.pass()).isTrue();
      }
      assertThat(each.a.done.getLast().status()).isEqualTo(WorkStatus.RETRIES_EXCEEDED);
    }
    assertThat(line.now).isEqualTo(plain.now);
    assertThat(line.a.transport.counters().timeouts)
        .isEqualTo(plain.a.transport.counters().timeouts);
    assertThat(line.a.transport.counters().retries)
        .isGreaterThan(plain.a.transport.counters().retries);
  }
}
