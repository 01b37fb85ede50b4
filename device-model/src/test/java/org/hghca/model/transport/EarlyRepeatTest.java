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
    on.a.post(
        request -> {
          request.operation = SendOperation.WRITE;
          request.position = position;
          request.remoteKey = Station.KEY;
          request.pieces.add(0, Station.KEY, 8);
        });
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

  /** A far peer: the delay follows the round trips. */
  @Test
  void farPeerGetsMoreTime() {
    EarlyRepeat early = new EarlyRepeat(true);
    assertThat(early.delay()).isEqualTo(Long.MAX_VALUE);
    early.sent(5, 0);
    early.sent(6, 1);
    early.progress(5, 10_000_000); // what was before
    assertThat(early.delay()).isEqualTo(Long.MAX_VALUE);
    early.progress(6, 100_000_000);
    assertThat(early.delay()).isEqualTo(400_000_000);
    early.sent(7, 200_000_000);
    early.rewound(); // the answer may be for either
    early.progress(8, 201_000_000);
    assertThat(early.delay()).isEqualTo(400_000_000);
    early.sent(8, 300_000_000);
    early.progress(9, 320_000_000);
    assertThat(early.delay()).isEqualTo(360_000_000);
  }

  @Test
  void goneOneIsGivenUpAsWithoutRepeats() {
    Line plain = line(false);
    for (Line each : List.of(line, plain)) {
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
