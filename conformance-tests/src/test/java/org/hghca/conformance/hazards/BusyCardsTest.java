package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.ToLongFunction;
import org.hghca.conformance.hazards.BusyCards.Kind;
import org.hghca.conformance.hazards.BusyCards.Lane;
import org.hghca.conformance.hazards.BusyCards.Load;
import org.hghca.conformance.hazards.BusyCards.Side;
import org.hghca.verbs.Mtu;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The first RTL as long and as wide as programs run. By default some thousand requests; {@code
 * -Dhghca.soak=PT10M} runs that long with many queue pairs, and {@code -Dhghca.packets=33554432}
 * sends so many packets of a connection in each direction.
 */
@Tag("long")
@Timeout(value = 7, unit = TimeUnit.DAYS)
class BusyCardsTest {
  private static final Duration TIME = Duration.parse(System.getProperty("hghca.soak", "PT0S"));
  private static final int PACKETS = Integer.getInteger("hghca.packets", 6000);
  private static final int WIDE = 256;

  /** The PSN wraps in the middle, or more than once. */
  @Test
  @Tag("hazard-12.21")
  void connectionLivesOverWraps(TestReporter reporter) {
    try (BusyCards cards = new BusyCards()) {
      int first = Math.max(0, BusyCards.PSNS - PACKETS / 2);
      cards.connect(Load.mixed(4000, 8), Load.mixed(4000, 8), Mtu.MTU_256, first);
      cards.run(() -> cards.lanes().stream().allMatch(lane -> lane.packets >= PACKETS));
      for (Lane lane : cards.lanes()) {
        Side side = lane.from;
        reporter.publishEntry(
            side.hca.name(),
            "%d requests, %d packets, %d wraps, %s"
                .formatted(lane.done, lane.packets, side.hca.counters().psnWraps(), side.psns()));
        assertThat(lane.carried + lane.readsAcross).isPositive();
        assertThat(side.hca.counters().psnWraps()).isEqualTo(lane.carried + lane.readsAcross);
        assertThat(side.psns().carriedWraps()).isEqualTo(lane.carried);
        assertThat(side.psns().ended()).isZero();
      }
      cards.assertUnharmed();
    }
  }

  @Test
  @Tag("hazard-12.16")
  void queuePairsAreServedAlike(TestReporter reporter) {
    try (BusyCards cards = new BusyCards()) {
      for (int i = 0; i < WIDE; i++) {
        Mtu mtu = Mtu.values()[i % Mtu.values().length];
        cards.connect(Load.mixed(4000, 2), Load.mixed(4000, 2), mtu, i);
      }
      cards.run(longEnough(cards, 4));
      report(reporter, "all", cards.lanes());
      assertServedInTurn(cards);
      cards.assertUnharmed();
    }
  }

  /** READs take their turn between streams, which together never leave the card idle. */
  @Test
  @Tag("hazard-12.16")
  void readIsServedBesideStreams(TestReporter reporter) {
    Load stream = new Load(List.of(Kind.SEND, Kind.WRITE), 65_536, 65_536, 1);
    oneAmongMany(reporter, Load.of(Kind.READ, 4096, 1), stream);
  }

  @Test
  @Tag("hazard-12.16")
  void longMessageIsServedBesideReads(TestReporter reporter) {
    oneAmongMany(reporter, Load.of(Kind.SEND, 65_536, 1), Load.of(Kind.READ, 4096, 1));
  }

  /** The limit of requests in flight is as high as it may be, and the cards stop without it. */
  @ParameterizedTest
  @CsvSource({"'', false", "&inflight=63&limit=PT0.1S, true"})
  @Tag("hazard-12.16")
  void cardsStopWithTooManyRequestsInFlight(String parameters, boolean stop) {
    Load stream = Load.of(Kind.WRITE, 4000, 1);
    try (BusyCards cards = BusyCards.atOnce(parameters)) {
      for (int i = 0; i < 64; i++) {
        cards.connect(stream, stream, Mtu.MTU_1024, i);
      }
      if (stop) {
        assertThatThrownBy(() -> cards.run(() -> true)).hasMessageContaining("12.16:");
      } else {
        cards.run(() -> true);
        cards.assertUnharmed();
      }
    }
  }

  private static void oneAmongMany(TestReporter reporter, Load one, Load others) {
    try (BusyCards cards = new BusyCards()) {
      cards.connect(one, one, Mtu.MTU_4096, 0);
      for (int i = 1; i < WIDE; i++) {
        cards.connect(others, others, Mtu.MTU_4096, i);
      }
      cards.run(longEnough(cards, 3));
      report(reporter, "the one", cards.lanes().subList(0, 2));
      report(reporter, "the others", cards.lanes().subList(2, cards.lanes().size()));
      assertServedInTurn(cards);
      cards.assertUnharmed();
    }
  }

  /** Each queue pair had so many requests, and the time has passed. */
  private static BooleanSupplier longEnough(BusyCards cards, int each) {
    long start = System.nanoTime();
    return () ->
        System.nanoTime() - start > TIME.toNanos()
            && cards.lanes().stream().allMatch(lane -> lane.done >= each);
  }

  /** A request needs up to eight doorbells, and each may wait for one of all other queue pairs. */
  private static void assertServedInTurn(BusyCards cards) {
    long limit = 2L * 8 * cards.lanes().size();
    assertThat(cards.lanes()).allSatisfy(lane -> assertThat(lane.overtaken).isLessThan(limit));
  }

  private static long least(List<Lane> lanes) {
    return lanes.stream().mapToLong(lane -> lane.done).min().orElseThrow();
  }

  private static long most(List<Lane> lanes) {
    return lanes.stream().mapToLong(lane -> lane.done).max().orElseThrow();
  }

  private static void report(TestReporter reporter, String which, List<Lane> lanes) {
    ToLongFunction<Lane> wait = lane -> lane.longestWait;
    reporter.publishEntry(
        which,
        "%d requests, %d to %d of a queue pair; longest wait %d ms, for %d others"
            .formatted(
                lanes.stream().mapToLong(lane -> lane.done).sum(),
                least(lanes),
                most(lanes),
                lanes.stream().mapToLong(wait).max().orElseThrow() / 1_000_000,
                lanes.stream().mapToLong(lane -> lane.overtaken).max().orElseThrow()));
  }
}
