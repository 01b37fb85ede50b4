package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.SplittableRandom;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.model.CableCounters;
import org.hghca.model.Disturbance;
import org.hghca.model.HcaCounters;
import org.hghca.verbs.Mtu;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Reliable connections over a cable that drops, duplicates, reorders, corrupts and delays packets:
 * every message arrives once, in order and complete.
 *
 * <p>A request fails only when it is repeated eight times in a row without any acknowledged
 * progress. Where p is the probability that a packet or its answer is lost, that is p^8: for a drop
 * rate of 1 % each way less than 1 in 10^13, so it must not happen in a million messages.
 */
class HostileCableTest {
  /** 4.096 us x 2^6: far longer than the cable delays a packet. */
  private static final int TIMEOUT = 6;

  private static RcPair pair(Flow.Plan plan, Mtu mtu, int readAtomic, int timeout, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int last = TestProfile.pick(Feature.PSN_WRAP, 0xff_ffff, 0xffff);
    return new RcSetup()
        .depth(plan.depth())
        .bufferSize(plan.bufferSize())
        .bufferAccess(Flow.ACCESS)
        .qpAccess(Flow.ACCESS)
        .mtu(mtu)
        .readAtomic(readAtomic)
        // PSNs wrap around early in every run.
        .psns(last - random.nextInt(300), last - random.nextInt(300))
        .retries(1, 7, timeout, 7)
        .on(Fabric.inline());
  }

  @Test
  @Needs(Feature.LOSS_RECOVERY)
  void millionMessagesArriveOnceInOrderAndComplete() {
    Flow.Plan plan = new Flow.Plan(500_000, 64, 600, 4096, 0);
    try (RcPair pair = pair(plan, Mtu.MTU_1024, 4, TIMEOUT, 1)) {
      pair.fabric
          .cable()
          .disturb(Disturbance.NONE.withDrop(0.01).withDuplicate(0.01).withReorder(0.02));
      new HostileTraffic(pair, plan, 1).run();
      CableCounters cable = pair.fabric.cable().counters();
      assertThat(cable.dropped()).isGreaterThan(10_000);
      assertThat(cable.duplicated()).isGreaterThan(10_000);
      assertThat(cable.reordered()).isGreaterThan(20_000);
      // Only a loss without a following packet that shows the gap has to wait for the time-out.
      long timeouts = pair.fabric.hcas().stream().mapToLong(hca -> hca.counters().timeouts()).sum();
      assertThat(timeouts).isPositive().isLessThan(cable.dropped() / 4);
    }
  }

  @ParameterizedTest(name = "{0}, seed {7}")
  @Needs(Feature.LOSS_RECOVERY)
  @CsvSource({
    "MTU_256,  0.01, 0.01, 0.02, 0.01, 0,   0,   1",
    "MTU_512,  0.03, 0.05, 0.10, 0,    0.2, 0,   2",
    "MTU_1024, 0,    0.30, 0,    0,    0,   0,   3",
    "MTU_1024, 0,    0,    0.40, 0,    0,   0,   4",
    "MTU_1024, 0,    0,    0,    0.10, 0,   0,   5",
    "MTU_1024, 0,    0.10, 0,    0,    1,   0,   6",
    "MTU_2048, 0.05, 0.10, 0.10, 0.01, 0.5, 0.3, 7",
    "MTU_4096, 0.05, 0.10, 0.10, 0.01, 0.5, 0.9, 8",
    "MTU_256,  0.05, 0.20, 0.10, 0,    0.1, 0.5, 9",
  })
  void everyMessageArrivesOnceInOrderAndComplete(
      Mtu mtu,
      double drop,
      double duplicate,
      double reorder,
      double corrupt,
      double delay,
      double lateReceives,
      long seed) {
    // Delays of up to 200 us, so that a packet may arrive long after it was retransmitted.
    Disturbance disturbance =
        new Disturbance(drop, duplicate, reorder, corrupt, delay, Duration.ofNanos(200_000), seed);
    Flow.Plan plan = new Flow.Plan(1500, 24, 1200, 3 * mtu.bytes() + 77, lateReceives);
    try (RcPair pair = pair(plan, mtu, 1 << seed % 4, TIMEOUT, seed)) {
      pair.fabric.cable().disturb(disturbance);
      new HostileTraffic(pair, plan, seed).run();
      if (lateReceives > 0.2) {
        assertThat(pair.fabric.hcas())
            .allSatisfy(hca -> assertThat(hca.counters().rnrNaksReceived()).isPositive());
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void perfectCableCarriesEverything(Mtu mtu) {
    Flow.Plan plan = new Flow.Plan(5000, 24, 1200, 3 * mtu.bytes() + 77, 0);
    try (RcPair pair = pair(plan, mtu, 4, TIMEOUT, mtu.bytes())) {
      new HostileTraffic(pair, plan, mtu.bytes()).run();
    }
  }

  @Test
  @Needs(Feature.LOSS_RECOVERY)
  void largeMessagesArriveComplete() {
    Flow.Plan plan = new Flow.Plan(100, 8, 100_000, 300_000, 0);
    try (RcPair pair = pair(plan, Mtu.MTU_1024, 2, TIMEOUT, 11)) {
      pair.fabric
          .cable()
          .disturb(Disturbance.NONE.withDrop(0.01).withDuplicate(0.01).withReorder(0.02));
      new HostileTraffic(pair, plan, 11).run();
    }
  }

  /** Most of the packets in one direction are lost; answers return without disturbance. */
  @ParameterizedTest
  @Needs(Feature.LOSS_RECOVERY)
  @CsvSource({"21, true", "22, false"})
  void messagesArriveWhenOneDirectionDropsAFifthOfItsPackets(long seed, boolean fromLeft) {
    Flow.Plan plan = new Flow.Plan(400, 16, 500, 4096, 0.2);
    try (RcPair pair = pair(plan, Mtu.MTU_512, 4, TIMEOUT, seed)) {
      pair.fabric
          .cable()
          .disturbFrom(
              pair.fabric.hcas().get(fromLeft ? 0 : 1),
              Disturbance.NONE.withDrop(0.2).withDuplicate(0.1).withReorder(0.1).withSeed(seed));
      new HostileTraffic(pair, plan, seed).run();
    }
  }

  @Test
  @Needs(Feature.LOSS_RECOVERY)
  void cableThatIsPerfectAgainNeedsNoRetries() {
    Flow.Plan plan = new Flow.Plan(300, 16, 500, 4096, 0);
    try (RcPair pair = pair(plan, Mtu.MTU_512, 4, TIMEOUT, 31)) {
      pair.fabric.cable().disturb(Disturbance.NONE.withDrop(0.05).withReorder(0.1));
      new HostileTraffic(pair, plan, 31).run();
      pair.fabric.cable().disturb(Disturbance.NONE);
      HcaCounters before = pair.fabric.hcas().getFirst().counters();
      assertThat(before.retries()).isPositive();
      for (int i = 0; i < 3; i++) {
        pair.left.qp.postSend(pair.write(0).wrId(i).sge(pair.left.buffer, 0, 4096).signaled());
        Side.assertSuccess(pair.left.sent());
      }
      assertThat(pair.fabric.hcas().getFirst().counters().retries()).isEqualTo(before.retries());
    }
  }
}
