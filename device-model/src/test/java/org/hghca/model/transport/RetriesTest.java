package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.wire.PacketOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** When a peer is given up, on a medium that loses packets. */
class RetriesTest {
  private static final int PATIENT = 7;
  private static final int RECEIVED_REQUESTS = 50;

  private final Line line = line();

  private static Line line() {
    Line line = new Line();
    line.losesPackets = true;
    for (Station station : new Station[] {line.a, line.b}) {
      station.transport.reset(Station.QPN);
      station.transport.modified(Station.QPN, QueuePairState.RTS);
    }
    return line;
  }

  private static long timeout(int code) {
    return 4096L << code;
  }

  private static void write(Station station, int length) {
    station.post(Station.request(SendOperation.WRITE, 0, 0, 0, length));
  }

  private void loseRequestsToB() {
    line.loses =
        number -> {
          Line.Seen last = line.seen.getLast();
          return last.to() == Line.B && last.opcode() != PacketOpcode.ACKNOWLEDGE;
        };
  }

  private long timeToFailure() {
    long since = line.now;
    while (line.a.done.isEmpty()) {
      assertThat(line.pass()).isTrue();
    }
    assertThat(line.a.statuses()).containsExactly(WorkStatus.RETRIES_EXCEEDED);
    return line.now - since;
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 14, 15, 16, 17})
  void silentPeerIsGivenUpAfterEightTimeoutsAndTwoSeconds(int code) {
    line.a.ackTimeout = code;
    line.loses = number -> true;
    write(line.a, 8);
    long all = (PATIENT + 1) * timeout(code);
    assertThat(timeToFailure())
        .isBetween(Math.max(all, Retries.SILENCE), Math.max(all, Retries.SILENCE + timeout(code)));
  }

  @ParameterizedTest
  @CsvSource({"0", "1", "6"})
  void lowerCountsCountEachTimeout(int count) {
    line.a.retryCount = count;
    line.loses = number -> true;
    write(line.a, 8);
    assertThat(timeToFailure()).isEqualTo((count + 1) * timeout(14));
  }

  @Test
  void timeoutsDoNotCountWhileThePeerSendsRequests() {
    loseRequestsToB();
    write(line.a, 8);
    for (int i = 0; i < RECEIVED_REQUESTS; i++) {
      write(line.b, 8);
      line.pass();
    }
    assertThat(line.b.done).hasSize(RECEIVED_REQUESTS);
    assertThat(line.a.transport.counters().timeouts).isGreaterThan(2L * PATIENT);
    assertThat(line.a.done).isEmpty();
    line.loses = number -> true;
    assertThat(timeToFailure())
        .isBetween(Retries.SILENCE - timeout(14), Retries.SILENCE + timeout(14));
  }

  @Test
  void requestsOfThePeerHelpNoLowerCount() {
    line.a.retryCount = PATIENT - 1;
    loseRequestsToB();
    write(line.a, 8);
    for (int i = 0; line.a.done.isEmpty(); i++) {
      assertThat(i).isLessThan(RECEIVED_REQUESTS);
      write(line.b, 8);
      line.pass();
    }
    assertThat(line.a.statuses()).containsExactly(WorkStatus.RETRIES_EXCEEDED);
  }

  /** The second packet is lost each time; the peer reports the gap once. */
  @ParameterizedTest
  @CsvSource({"6, 6", "7, 8"})
  void reportedGapDoesNotUseUpAPatientCount(int count, int timeouts) {
    line.a.ackTimeout = 17;
    line.a.retryCount = count;
    line.loses =
        number -> {
          Line.Seen last = line.seen.getLast();
          return last.to() == Line.B && last.psn() == 1;
        };
    write(line.a, 3 * line.a.mtu);
    assertThat(timeToFailure()).isEqualTo(timeouts * timeout(17));
    assertThat(line.a.transport.counters().naksReceived).isOne();
  }

  @Test
  void datagramOfTheConnectionManagerIsHeardByTheLoadOfItsAddress() {
    PeerLoads loads = new PeerLoads();
    PeerLoad load = loads.join(1, 2, 64);
    loads.heard(1, 3, 5);
    loads.heard(2, 2, 5);
    assertThat(load.heardAt()).isZero();
    loads.heard(1, 2, 5);
    assertThat(load.heardAt()).isEqualTo(5);
  }
}
