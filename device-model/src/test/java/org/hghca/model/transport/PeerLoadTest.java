package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What many connections have in flight to one address. */
class PeerLoadTest {
  private static final int MOST = 128;
  private static final int FIRST = 16;
  private static final long MILLISECOND = 1_000_000;
  private static final long TIMEOUT = 4096L << Crowd.ACK_TIMEOUT;

  private static Crowd crowd(int connections, SendOperation operation, int length) {
    Crowd crowd = new Crowd(connections);
    for (int qpn = 0; qpn < connections; qpn++) {
      crowd.post(qpn, operation, length);
    }
    crowd.run();
    return crowd;
  }

  private static void assertAllSucceeded(Crowd crowd, int connections) {
    assertThat(crowd.done).hasSize(connections).allMatch(d -> d.status() == WorkStatus.SUCCESS);
    assertThat(crowd.kept).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"1, WRITE", "8, WRITE", "64, WRITE", "300, WRITE", "1, READ", "8, READ", "64, READ"})
  void allConnectionsTogetherFillNoBuffer(int connections, SendOperation operation) {
    Crowd crowd = crowd(connections, operation, 256 * Crowd.MTU);
    // A READ is asked for in pieces of 64 KiB.
    int piece = operation == SendOperation.READ ? 64 : 1;
    assertThat(crowd.load()).as("at first").isBetween(1, Math.max(piece, FIRST));
    int most = 0;
    while (!crowd.kept.isEmpty()) {
      most = Math.max(most, crowd.load());
      crowd.take();
    }
    assertThat(most).as("in flight").isBetween(MOST / 2, MOST + piece);
    assertAllSucceeded(crowd, connections);
    assertThat(crowd.transport.counters().timeouts).isZero();
  }

  /** 100 packets a second: a program that has just begun, beside others. */
  @ParameterizedTest
  @ValueSource(strings = {"WRITE", "READ"})
  void manyThatBeginAtOnceGetASlowPeersAnswersInTime(SendOperation operation) {
    int connections = 64;
    Crowd crowd = crowd(connections, operation, 8);
    for (int i = 0; crowd.done.size() < connections && i < 100_000; i++) {
      crowd.advance(crowd.now + 10 * MILLISECOND);
      if (!crowd.kept.isEmpty()) {
        crowd.take();
      }
    }
    assertThat(crowd.done).hasSize(connections).allMatch(d -> d.status() == WorkStatus.SUCCESS);
  }

  /** They have what time-outs leave to them: no connection waits for the time-outs of others. */
  @Test
  void connectionsWhosePeersAreGoneDoNotHoldUpTheOthers() {
    int connections = 64;
    Crowd crowd = crowd(connections, SendOperation.WRITE, 64 * Crowd.MTU);
    long allDone = 0;
    while (crowd.done.size() < connections) {
      crowd.advance(crowd.now + MILLISECOND / 10);
      while (!crowd.kept.isEmpty()) {
        if (crowd.kept.element().qpn() % 2 == 0) {
          crowd.take();
        } else {
          crowd.kept.remove();
        }
      }
      long done = crowd.done.stream().filter(d -> d.qpn() % 2 == 0).count();
      allDone = done == connections / 2 && allDone == 0 ? crowd.now : allDone;
    }
    assertThat(crowd.done)
        .allMatch(
            d ->
                d.status()
                    == (d.qpn() % 2 == 0 ? WorkStatus.SUCCESS : WorkStatus.RETRIES_EXCEEDED));
    // 32 of 64 packets; without turns of their own they would wait for 8 time-outs of the others.
    assertThat(allDone).as("time of the others").isLessThan(8 * TIMEOUT);
    assertThat(crowd.done).allMatch(d -> d.qpn() % 2 == 0 || d.at() >= 8 * TIMEOUT);
  }

  @Test
  void connectionThatIsResetLeavesItsRoomToOthers() {
    Crowd crowd = crowd(3, SendOperation.WRITE, 256 * Crowd.MTU);
    while (crowd.load() < FIRST) {
      crowd.take();
    }
    crowd.transport.reset(0);
    crowd.transport.reset(1);
    crowd.kept.removeIf(came -> came.qpn() < 2);
    crowd.run();
    while (!crowd.kept.isEmpty()) {
      crowd.take();
    }
    assertThat(crowd.done)
        .containsExactly(new Crowd.Done(2, WorkStatus.SUCCESS, crowd.now))
        .allMatch(d -> d.at() < TIMEOUT);
  }

  /** What came before the time-out is on its way through this host. */
  @Test
  void timeOutDoesNotCountBeforeWhatHasComeIsTaken() {
    Crowd crowd = crowd(1, SendOperation.WRITE, 8);
    crowd.deliveredUntil = TIMEOUT - 1;
    crowd.advance(3 * TIMEOUT);
    assertThat(crowd.transport.counters().timeouts).isZero();
    crowd.take();
    assertAllSucceeded(crowd, 1);
  }

  @Test
  void timeOutCountsWhereNothingMoreHasCome() {
    Crowd crowd = crowd(1, SendOperation.WRITE, 8);
    crowd.deliveredUntil = TIMEOUT - 1;
    crowd.advance(TIMEOUT + MILLISECOND / 2);
    assertThat(crowd.transport.counters().timeouts).isZero();
    crowd.deliveredUntil = TIMEOUT;
    crowd.advance(TIMEOUT + 2 * MILLISECOND);
    assertThat(crowd.transport.counters().timeouts).isOne();
  }

  @Test
  void timeOutIsPutOffThreeTimesItsLengthAtMost() {
    Crowd crowd = crowd(1, SendOperation.WRITE, 8);
    crowd.deliveredUntil = 0;
    crowd.advance(4 * TIMEOUT - MILLISECOND);
    assertThat(crowd.transport.counters().timeouts).isZero();
    crowd.advance(4 * TIMEOUT + MILLISECOND);
    assertThat(crowd.transport.counters().timeouts).isOne();
  }
}
