package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Packet;
import org.junit.jupiter.api.Test;

/** Three ports on a hub, packet by packet. */
class HubTest {
  private static final long BROADCAST = 0xffff_ffff_ffffL;

  private final Simulation simulation = Simulation.unnamed();
  private final Hub hub = new Hub("h", simulation);
  private final EthernetPort a = plugged(1);
  private final EthernetPort b = plugged(2);
  private final EthernetPort c = plugged(3);

  private EthernetPort plugged(long mac) {
    return plugged(mac, Disturbance.NONE);
  }

  private EthernetPort plugged(long mac, Disturbance disturbance) {
    EthernetPort port = new EthernetPort(mac, simulation.packets());
    hub.plug(port, disturbance);
    return port;
  }

  private void send(EthernetPort from, long source, long destination) {
    Packet packet = simulation.packets().take();
    packet.sourceMac = source;
    packet.destinationMac = destination;
    from.transmit(packet);
  }

  private void send(EthernetPort from, long destination) {
    send(from, from.mac(), destination);
  }

  /** The number of packets that reached a port since the last call, whatever their address. */
  private int delivered(EthernetPort port) {
    int count = 0;
    while (port.hasArrived()) {
      simulation.packets().giveBack(port.fetch());
      count++;
    }
    return count;
  }

  @Test
  void portIsUpAsSoonAsItIsAttached() {
    assertThat(a.isUp()).isTrue();
    hub.unplug(a);
    assertThat(a.isUp()).isFalse();
    assertThat(hub.isLoose()).isFalse();
    hub.unplug(b);
    hub.unplug(c);
    assertThat(hub.isLoose()).isTrue();
  }

  @Test
  void packetReachesThePortOfItsAddress() {
    send(a, 2);
    send(b, 3);
    send(c, 1);
    assertThat(List.of(delivered(a), delivered(b), delivered(c))).containsExactly(1, 1, 1);
    send(a, 9);
    send(a, BROADCAST);
    assertThat(List.of(delivered(a), delivered(b), delivered(c))).containsExactly(0, 0, 0);
  }

  /**
   * A port sees a delivered packet only if it is for the port's address: others receive but drop
   * it.
   */
  @Test
  void unknownAddressIsFloodedAndALearnedOneGoesToItsPortOnly() {
    EthernetPort again = plugged(2); // c sees packets for b as long as the hub has not learned b
    send(a, 2);
    assertThat(List.of(delivered(b), delivered(again))).containsExactly(1, 1);
    send(b, 1); // the hub learns b
    assertThat(delivered(a)).isEqualTo(1);
    send(a, 2);
    send(c, 2);
    assertThat(List.of(delivered(b), delivered(again))).containsExactly(2, 0);
    send(again, 1); // b moves
    send(a, 2);
    assertThat(List.of(delivered(b), delivered(again))).containsExactly(0, 1);
    hub.unplug(again); // the entry that pointed there is removed
    send(c, 2);
    assertThat(delivered(b)).isEqualTo(1);
  }

  @Test
  void packetToAnAddressOnItsOwnSideIsDropped() {
    send(a, 7, 1); // 7 is behind a
    send(a, 7);
    assertThat(List.of(delivered(b), delivered(c))).containsExactly(0, 0);
  }

  @Test
  void eachDirectionHasItsOwnDisturbance() {
    EthernetPort d = plugged(4, Disturbance.NONE.withDrop(1));
    send(a, 4);
    send(d, 1);
    send(a, 2);
    assertThat(List.of(delivered(a), delivered(b), delivered(d))).containsExactly(1, 1, 0);
  }

  @Test
  void noPacketIsReturnedTwice() {
    send(a, 9); // to all others, none of which takes it
    send(a, 7, 1);
    send(a, 7); // to no port
    hub.unplug(b);
    hub.unplug(c);
    send(a, 9);
    Set<Packet> packets = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int i = 0; i < 20; i++) {
      assertThat(packets.add(simulation.packets().take())).isTrue();
    }
  }

  private static PciFunction open(String locator) {
    return PciFunctions.open(Locator.parse(locator));
  }

  @Test
  void packetWithASourceThatNoPortHasIsDroppedAndCounted() {
    send(a, 0, b.mac());
    send(a, BROADCAST, b.mac());
    assertThat(delivered(b)).isZero();
    assertThat(delivered(c)).isZero();
    assertThat(hub.invalidSources()).isEqualTo(2);
    send(a, b.mac());
    hub.step(0);
    assertThat(delivered(b)).isEqualTo(1);
  }

  @Test
  void hcaThatNamesTheHubIsAttached() {
    try (Simulation shared = Simulation.inline("hub");
        PciFunction x = open("model:x?sim=hub&hub=k");
        PciFunction y = open("model:y?sim=hub&hub=k&drop=1");
        PciFunction z = open("model:z?sim=hub&hub=k");
        PciFunction w = open("model:w?sim=hub&cable=k")) {
      assertThat(List.of(x, y, z, w)).doesNotContainNull();
      SoftwareHca first = shared.hca("x").orElseThrow();
      SoftwareHca wired = shared.hca("w").orElseThrow();
      Hub joined = first.hub().orElseThrow();
      assertThat(joined.name()).isEqualTo("k");
      assertThat(first.cable()).isEmpty();
      assertThat(shared.hca("z").orElseThrow().hub()).containsSame(joined);
      assertThat(joined.countersTo(first)).isEqualTo(new CableCounters(0, 0, 0, 0, 0, 0));
      assertThat(wired.hub()).isEmpty();
      assertThat(wired.cable().orElseThrow().isUp()).isFalse();
      assertThatThrownBy(() -> joined.disturbTo(wired, Disturbance.NONE))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'w' is not plugged into hub 'k'");
    }
  }

  @Test
  void portHasOneAttachment() {
    assertReason(Reason.INVALID, () -> open("model:x?mode=inline&hub=k&cable=k"))
        .hasMessageContaining("into cable= or into hub=, not into both");
  }
}
