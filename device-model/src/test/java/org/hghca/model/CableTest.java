package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CableTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "model:x?cable=c&drop=2 | drop is 2.0: give a rate of 0 to 1",
        "model:x?cable=c&duplicate=-0.1 | duplicate is -0.1",
        "model:x?cable=c&reorder=NaN | reorder is NaN",
        "model:x?cable=c&corrupt=much | corrupt=much is not a rate of 0 to 1",
        "model:x?cable=c&delay= | delay= is not a rate",
        "model:x?cable=c&maxdelay=1s | maxdelay=1s is not a duration such as PT0.0001S",
        "model:x?cable=c&maxdelay=PT0S | above 0 and up to a day",
        "model:x?cable=c&maxdelay=P2D | above 0 and up to a day",
        "model:x?cable=c&seed=abc | seed=abc is not a whole number",
        "model:x?drop=0.1 | drop= belongs to a cable: name one with cable="
      })
  void invalidDisturbanceIsRefused(String locator, String message) {
    Locator parsed = Locator.parse(locator);
    ModelProvider provider = new ModelProvider();
    assertReason(Reason.INVALID, () -> provider.open(parsed)).hasMessageContaining(message);
  }

  @Test
  void firstHcaOfACableDefinesItsDisturbance() {
    try (Simulation simulation = Simulation.inline("first");
        PciFunction a = open("model:a?sim=first&cable=k&drop=1&seed=5&mac=02:00:00:00:00:01");
        PciFunction b = open("model:b?sim=first&cable=k&mac=02:00:00:00:00:02")) {
      Cable cable = simulation.hca("b").orElseThrow().cable().orElseThrow();
      assertThat(cable.counters()).isEqualTo(new CableCounters(0, 0, 0, 0, 0, 0));
      assertThat(a.locator().parameter("seed")).contains("5");
      assertThat(b.locator().name()).isEqualTo("b");
    }
  }

  private static PciFunction open(String locator) {
    return PciFunctions.open(Locator.parse(locator));
  }

  @Test
  void onlyAnAttachedHcaHasADirection() {
    try (Pair pair = new Pair();
        PciFunction other = open("model:other?mode=inline&cable=z")) {
      SoftwareHca stranger = ModelProvider.hca(other.locator()).orElseThrow();
      Cable cable = pair.leftHca().cable().orElseThrow();
      assertThatThrownBy(() -> cable.disturbFrom(stranger, Disturbance.NONE))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'other' is not plugged into cable 'c'");
    }
  }

  private static void write(Pair pair) {
    Host.Buffer source = pair.left.buffer(4096, Host.ALL);
    Host.Buffer target = pair.right.buffer(4096, Host.ALL);
    pair.a.write(target, 0, new Host.Piece(source, 0, 8));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void eachDirectionIsDisturbedSeparately(boolean fromLeft) {
    try (Pair pair = new Pair().connect()) {
      Cable cable = pair.leftHca().cable().orElseThrow();
      cable.disturbFrom(fromLeft ? pair.leftHca() : pair.rightHca(), Disturbance.NONE.withDrop(1));
      write(pair);
      pair.simulation.run();
      long requests = pair.rightHca().counters().packetsReceived();
      long answers = pair.leftHca().counters().packetsReceived();
      assertThat(requests).isEqualTo(fromLeft ? 0 : 1);
      assertThat(answers).isZero();
      assertThat(cable.counters().dropped()).isEqualTo(1);
    }
  }

  @Test
  void everyPacketIsReturnedOnceAlsoWhenPlugsAreDetached() {
    PacketPool pool;
    Set<Packet> packets;
    try (Pair pair = new Pair().connect()) {
      pool = pair.simulation.packets();
      packets = take(pool);
      packets.forEach(pool::giveBack);
      Cable cable = pair.leftHca().cable().orElseThrow();
      cable.disturb(new Disturbance(0.1, 0.3, 0.3, 0.1, 0.5, Duration.ofMillis(1), 3));
      for (int i = 0; i < 50; i++) {
        write(pair);
        pair.simulation.advance(Duration.ofNanos(100_000));
      }
      write(pair);
      pair.right.close();
      pair.simulation.advance(Duration.ofSeconds(1));
    }
    assertThat(take(pool)).isEqualTo(packets);
  }

  /** The greatest number of packets in flight here: those of the pool, each once. */
  private static Set<Packet> take(PacketPool pool) {
    Set<Packet> packets = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int i = 0; i < 200; i++) {
      assertThat(packets.add(pool.take())).as("taken once").isTrue();
    }
    return packets;
  }

  @Test
  void delayedPacketArrivesOnTimeWhileTheClockAdvances() {
    try (Pair pair = new Pair().connect()) {
      Cable cable = pair.leftHca().cable().orElseThrow();
      cable.disturbFrom(pair.leftHca(), Disturbance.NONE.withDelay(1, Duration.ofMillis(1)));
      write(pair);
      pair.simulation.run();
      assertThat(pair.rightHca().counters().packetsReceived()).isZero();
      assertThat(pair.simulation.participants().nextDeadline()).isBetween(1L, 1_000_000L);
      pair.simulation.advance(Duration.ofMillis(1));
      assertThat(pair.leftHca().counters().packetsReceived()).isEqualTo(1);
      assertThat(pair.leftHca().counters().timeouts()).isZero();
    }
  }
}
