package org.hghca.model;

import org.hghca.vfio.VfioException;
import org.hghca.wire.EthernetPort;

/** What joins ports of a simulation. Used under the simulation's lock. */
abstract class Segment {
  private final String name;

  Segment(String name) {
    this.name = name;
  }

  /** The name in the locators of the HCAs that are plugged in. */
  public final String name() {
    return name;
  }

  /**
   * Plugs in a port.
   *
   * @param disturbance what the port's locator says
   * @throws VfioException {@code BUSY} when all plugs are in use
   */
  abstract void plug(EthernetPort port, Disturbance disturbance);

  abstract void unplug(EthernetPort port);

  /** Whether no port is plugged in. */
  abstract boolean isLoose();

  /** Delivers packets that are due; returns whether there were any. */
  abstract boolean step(long now);

  /** When the next {@link #step} is due, {@code Long.MAX_VALUE}: never. */
  abstract long nextDeadline();
}
