package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Packet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One direction of a cable, packet by packet. */
class LaneTest {
  private static final Duration LONG = Duration.ofNanos(1000);

  private final Simulation simulation = Simulation.unnamed();
  private final EthernetPort port = new EthernetPort(5, simulation.packets());
  private final Lane lane = new Lane(simulation.clock(), simulation.packets());
  private int sent;

  LaneTest() {
    lane.end(port);
  }

  private void disturb(Disturbance by) {
    lane.disturb(by, by.seed());
  }

  private void send(int count) {
    for (int i = 0; i < count; i++) {
      Packet packet = simulation.packets().take();
      packet.destinationMac = 5;
      packet.psn = sent++;
      lane.carry(packet);
    }
  }

  /** Fetches what has arrived. */
  private List<Integer> arrived() {
    List<Integer> psns = new ArrayList<>();
    while (port.hasArrived()) {
      Packet packet = port.fetch();
      psns.add(packet.psn);
      simulation.packets().giveBack(packet);
    }
    return psns;
  }

  @Test
  void laneIsPerfectWithoutADisturbance() {
    send(3);
    assertThat(arrived()).containsExactly(0, 1, 2);
    assertThat(lane.counters()).isEqualTo(new CableCounters(3, 0, 0, 0, 0, 0));
    assertThat(lane.nextDeadline()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void droppedPacketNeverArrives() {
    disturb(Disturbance.NONE.withDrop(1));
    send(3);
    assertThat(arrived()).isEmpty();
    assertThat(lane.counters()).isEqualTo(new CableCounters(3, 3, 0, 0, 0, 0));
    assertThat(lane.nextDeadline()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void duplicateArrivesAsASecondPacket() {
    disturb(Disturbance.NONE.withDuplicate(1));
    send(2);
    assertThat(arrived()).containsExactly(0, 0, 1, 1);
    assertThat(lane.counters()).isEqualTo(new CableCounters(2, 0, 2, 0, 0, 0));
  }

  @Test
  void corruptPacketIsDroppedByThePort() {
    disturb(Disturbance.NONE.withCorrupt(1));
    send(2);
    assertThat(arrived()).isEmpty();
    assertThat(port.damaged()).isEqualTo(2);
    assertThat(lane.counters()).isEqualTo(new CableCounters(2, 0, 0, 0, 0, 2));
  }

  @ParameterizedTest
  @CsvSource({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"})
  void oneToFourLaterPacketsOvertakeAReorderedOne(long seed) {
    disturb(Disturbance.NONE.withReorder(1).withSeed(seed));
    send(1);
    assertThat(arrived()).isEmpty();
    // Each packet behind is delayed, too, but counts; five are always enough for the first.
    lane.disturb(Disturbance.NONE, 0);
    assertThat(arrived()).containsExactly(0);
    disturb(Disturbance.NONE.withReorder(0.2).withSeed(seed));
    send(1000);
    List<Integer> order = arrived();
    int moved = 0;
    for (int i = 0; i < order.size(); i++) {
      assertThat(order.get(i) - 1).isCloseTo(i, within(20));
      moved += order.get(i) - 1 == i ? 0 : 1;
    }
    assertThat(moved).isPositive();
    assertThat(order).doesNotHaveDuplicates();
  }

  @Test
  void reorderedPacketWithoutASuccessorArrivesMicrosecondsLate() {
    disturb(Disturbance.NONE.withReorder(1));
    send(1);
    assertThat(lane.nextDeadline()).isEqualTo(10_000);
    assertThat(lane.step(9_999)).isFalse();
    assertThat(arrived()).isEmpty();
    assertThat(lane.step(10_000)).isTrue();
    assertThat(arrived()).containsExactly(0);
    assertThat(lane.nextDeadline()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void delayedPacketsArriveAtTheirTimes() {
    disturb(Disturbance.NONE.withDelay(1, LONG));
    send(100);
    assertThat(arrived()).isEmpty();
    List<Integer> order = new ArrayList<>();
    long last = 0;
    while (lane.nextDeadline() != Long.MAX_VALUE) {
      long due = lane.nextDeadline();
      assertThat(due).isGreaterThan(last).isLessThanOrEqualTo(1000);
      assertThat(lane.step(due - 1)).isFalse();
      assertThat(lane.step(due)).isTrue();
      last = due;
      order.addAll(arrived());
    }
    assertThat(order).hasSize(100).doesNotHaveDuplicates();
    assertThat(lane.counters().delayed()).isEqualTo(100);
  }

  @Test
  void packetsInFlightArriveBeforeTheDisturbanceChanges() {
    disturb(Disturbance.NONE.withDelay(1, LONG));
    send(2);
    disturb(Disturbance.NONE);
    send(1);
    assertThat(arrived()).containsExactlyInAnyOrder(0, 1, 2).endsWith(2);
  }

  @Test
  void nothingArrivesWithoutAnAttachedPort() {
    disturb(Disturbance.NONE.withDelay(1, LONG));
    send(2);
    lane.end(null);
    assertThat(lane.nextDeadline()).isEqualTo(Long.MAX_VALUE);
    send(1);
    lane.step(2000);
    assertThat(arrived()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"1", "2", "3", "4"})
  void everyPacketIsReturnedOnceInAllCases(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Set<Packet> packets = takeAll();
    packets.forEach(simulation.packets()::giveBack);
    for (int i = 0; i < 500; i++) {
      disturb(new Disturbance(0.1, 0.3, 0.3, 0.1, 0.3, LONG, random.nextLong()));
      send(random.nextInt(40));
      switch (random.nextInt(4)) {
        case 0 -> lane.end(null);
        case 1 -> lane.end(port);
        case 2 -> lane.step(random.nextLong(10_001));
        default -> arrived();
      }
      arrived();
    }
    lane.end(null);
    assertThat(takeAll()).isEqualTo(packets);
  }

  /** The greatest number of packets in flight here: those of the pool, each once. */
  private Set<Packet> takeAll() {
    Set<Packet> packets = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int i = 0; i < 200; i++) {
      assertThat(packets.add(simulation.packets().take())).as("taken once").isTrue();
    }
    return packets;
  }

  @Test
  void ratesAreFractionsOfThePackets() {
    disturb(new Disturbance(0.1, 0.05, 0.02, 0.01, 0.03, LONG, 7));
    send(100_000);
    CableCounters counters = lane.counters();
    assertThat(counters.carried()).isEqualTo(100_000);
    assertThat(counters.duplicated()).isCloseTo(5_000, within(300L));
    double copies = counters.carried() + counters.duplicated();
    assertThat(counters.dropped() / copies).isCloseTo(0.1, within(0.005));
    double kept = copies - counters.dropped();
    assertThat(counters.corrupted() / kept).isCloseTo(0.01, within(0.002));
    assertThat(counters.reordered() / kept).isCloseTo(0.02, within(0.003));
    assertThat(counters.delayed() / (kept - counters.reordered())).isCloseTo(0.03, within(0.003));
    lane.step(10_000);
    assertThat(arrived()).hasSize((int) (kept - counters.corrupted()));
  }

  @Test
  void sameSeedGivesTheSameDisturbance() {
    List<List<Integer>> runs = new ArrayList<>();
    for (long seed : new long[] {3, 3, 4}) {
      sent = 0;
      disturb(new Disturbance(0.1, 0.1, 0.1, 0.1, 0.1, LONG, seed));
      send(500);
      lane.step(10_000);
      runs.add(arrived());
    }
    assertThat(runs.get(0)).isEqualTo(runs.get(1)).isNotEqualTo(runs.get(2));
  }
}
