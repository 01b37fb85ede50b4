package org.hghca.model;

import java.util.ArrayList;
import java.util.List;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.MacTable;
import org.hghca.wire.Medium;
import org.hghca.wire.Packet;

/**
 * A switch for any number of HCAs of one simulation that name it in their locators. It learns which
 * Ethernet address is at which plug; a packet to an address that it has not seen, or to a group,
 * goes to all other plugs. A packet whose source address no port can have goes nowhere. A port is
 * up as soon as it is plugged in. The way from the hub to each HCA is perfect until it gets a
 * disturbance. What is public is thread-safe.
 */
public final class Hub extends Segment {
  private final Simulation simulation;
  private final MacTable addresses = new MacTable();

  /** The ways to the ports; replaced, never changed. */
  private List<Lane> lanes = List.of();

  private long invalidSources;

  private final Medium inside =
      new Medium() {
        @Override
        public boolean isUp() {
          return true;
        }

        @Override
        public void carry(EthernetPort from, Packet packet) {
          Hub.this.carry(from, packet);
        }
      };

  Hub(String name, Simulation simulation) {
    super(name);
    this.simulation = simulation;
  }

  /**
   * Disturbs the packets on their way to an HCA from now on; those in flight arrive before. {@link
   * Disturbance#NONE} makes the way perfect again.
   *
   * @throws IllegalArgumentException if the HCA is not plugged into this hub
   */
  public void disturbTo(SoftwareHca receiver, Disturbance disturbance) {
    simulation.exclusively(() -> lane(receiver).disturb(disturbance, disturbance.seed()));
    simulation.kick();
  }

  /**
   * What has become of the packets on their way to an HCA, at one moment between two steps of the
   * simulation.
   *
   * @throws IllegalArgumentException if the HCA is not plugged into this hub
   */
  public CableCounters countersTo(SoftwareHca receiver) {
    CableCounters[] result = new CableCounters[1];
    simulation.exclusively(() -> result[0] = lane(receiver).counters());
    return result[0];
  }

  private Lane lane(SoftwareHca hca) {
    for (Lane lane : lanes) {
      if (hca.isAt(lane.end())) {
        return lane;
      }
    }
    throw new IllegalArgumentException(
        "software HCA '%s' is not plugged into hub '%s'".formatted(hca.name(), name()));
  }

  /** How many packets were dropped because no port has their source address: 0, or a group's. */
  public long invalidSources() {
    long[] result = new long[1];
    simulation.exclusively(() -> result[0] = invalidSources);
    return result[0];
  }

  private void carry(EthernetPort from, Packet packet) {
    if (packet.sourceMac == 0 || MacTable.isGroup(packet.sourceMac)) {
      invalidSources++;
      simulation.packets().giveBack(packet);
      return;
    }
    addresses.learn(packet.sourceMac, from);
    EthernetPort to =
        MacTable.isGroup(packet.destinationMac) ? null : addresses.find(packet.destinationMac);
    if (to == null) {
      flood(from, packet);
    } else if (to == from) {
      simulation.packets().giveBack(packet); // it was on the right side before
    } else {
      lane(to).carry(packet);
    }
  }

  private Lane lane(EthernetPort port) {
    List<Lane> all = lanes;
    int at = 0;
    while (all.get(at).end() != port) {
      at++;
    }
    return all.get(at);
  }

  private void flood(EthernetPort from, Packet packet) {
    List<Lane> all = lanes;
    for (int i = 0; i < all.size(); i++) {
      if (all.get(i).end() != from) {
        all.get(i).carry(simulation.packets().copy(packet));
      }
    }
    simulation.packets().giveBack(packet);
  }

  /** Plugs in a port; the disturbance is that of the way to it. */
  @Override
  void plug(EthernetPort port, Disturbance disturbance) {
    Lane lane = new Lane(simulation.clock(), simulation.packets());
    lane.end(port);
    lane.disturb(disturbance, disturbance.seed());
    List<Lane> more = new ArrayList<>(lanes);
    more.add(lane);
    lanes = List.copyOf(more);
    port.plug(inside);
  }

  @Override
  void unplug(EthernetPort port) {
    Lane lane = lane(port);
    lanes = lanes.stream().filter(other -> other != lane).toList();
    lane.end(null);
    addresses.clear();
    port.plug(null);
  }

  @Override
  boolean isLoose() {
    return lanes.isEmpty();
  }

  @Override
  boolean step(long now) {
    boolean worked = false;
    List<Lane> all = lanes;
    for (int i = 0; i < all.size(); i++) {
      worked |= all.get(i).step(now);
    }
    return worked;
  }

  @Override
  long nextDeadline() {
    long next = Long.MAX_VALUE;
    List<Lane> all = lanes;
    for (int i = 0; i < all.size(); i++) {
      next = Math.min(next, all.get(i).nextDeadline());
    }
    return next;
  }
}
