package org.hghca.model;

import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Medium;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketRun;

/**
 * A cable with two plugs, created by its name in the locators of two HCAs of one simulation. It is
 * perfect until a disturbance is set. Public methods are thread-safe.
 */
public final class Cable extends Segment {
  private final Simulation simulation;

  /** The two directions; each ends at the port where the other one begins. */
  private final Lane leftward;

  private final Lane rightward;

  private final Medium inside =
      new Medium() {
        @Override
        public boolean isUp() {
          return Cable.this.isUp();
        }

        @Override
        public void carry(EthernetPort from, Packet packet) {
          lane(from).carry(packet);
        }

        @Override
        public int longestRun(EthernetPort from, long destinationMac, long ipHigh, long ipLow) {
          return lane(from).passesRuns(destinationMac) ? Integer.MAX_VALUE : 0;
        }

        @Override
        public boolean carry(EthernetPort from, PacketRun run) {
          return lane(from).carry(run);
        }

        private Lane lane(EthernetPort from) {
          return from == leftward.end() ? rightward : leftward;
        }
      };

  Cable(String name, Simulation simulation) {
    super(name);
    this.simulation = simulation;
    this.leftward = new Lane(simulation.clock(), simulation.packets());
    this.rightward = new Lane(simulation.clock(), simulation.packets());
  }

  /** Whether both plugs are in. */
  public boolean isUp() {
    return leftward.end() != null && rightward.end() != null;
  }

  /**
   * Disturbs both directions from now on, each with its own random numbers; packets in flight
   * arrive first. {@link Disturbance#NONE} makes the cable perfect again.
   */
  public void disturb(Disturbance disturbance) {
    simulation.exclusively(() -> disturbBoth(disturbance));
    simulation.kick();
  }

  private void disturbBoth(Disturbance disturbance) {
    leftward.disturb(disturbance, disturbance.seed());
    rightward.disturb(disturbance, ~disturbance.seed());
  }

  /**
   * Disturbs the packets that an HCA sends; see {@link #disturb}.
   *
   * @throws IllegalArgumentException if the HCA is not plugged into this cable
   */
  public void disturbFrom(SoftwareHca sender, Disturbance disturbance) {
    simulation.exclusively(
        () -> {
          if (!sender.cable().filter(cable -> cable == this).isPresent()) {
            throw new IllegalArgumentException(
                "software HCA '%s' is not plugged into cable '%s'"
                    .formatted(sender.name(), name()));
          }
          Lane lane = sender.isAt(leftward.end()) ? rightward : leftward;
          lane.disturb(disturbance, disturbance.seed());
        });
    simulation.kick();
  }

  /** The packet counters, at one point between two steps of the simulation. */
  public CableCounters counters() {
    CableCounters[] result = new CableCounters[1];
    simulation.exclusively(() -> result[0] = leftward.counters().plus(rightward.counters()));
    return result[0];
  }

  /**
   * Number of runs that have passed, in both directions: consecutive packets of one message that
   * passed at once. {@link #counters} counts each of their packets.
   */
  public long runs() {
    long[] result = new long[1];
    simulation.exclusively(() -> result[0] = leftward.runs() + rightward.runs());
    return result[0];
  }

  @Override
  boolean step(long now) {
    boolean worked = leftward.step(now);
    return rightward.step(now) || worked;
  }

  @Override
  long nextDeadline() {
    return Math.min(leftward.nextDeadline(), rightward.nextDeadline());
  }

  /** Plugs in a port; the disturbance of the first one is that of both directions. */
  @Override
  void plug(EthernetPort port, Disturbance disturbance) {
    if (isLoose()) {
      disturbBoth(disturbance);
    }
    if (leftward.end() == null) {
      leftward.end(port);
    } else if (rightward.end() == null) {
      rightward.end(port);
    } else {
      throw new VfioException(
          Reason.BUSY,
          "both ends of cable '%s' are plugged in: give this pair of HCAs a cable of its own"
              .formatted(name()));
    }
    port.plug(inside);
  }

  @Override
  void unplug(EthernetPort port) {
    if (leftward.end() == port) {
      leftward.end(null);
    } else if (rightward.end() == port) {
      rightward.end(null);
    }
    port.plug(null);
  }

  @Override
  boolean isLoose() {
    return leftward.end() == null && rightward.end() == null;
  }
}
