package org.hghca.model.rtl;

import org.hghca.model.link.Port;
import org.hghca.model.transport.TransportCounters;

/** The data path: doorbells, work requests, packets and completions. */
final class Engine {
  private final Doorbells doorbells;
  private final Port port;
  private final TransportCounters counters = new TransportCounters();

  Engine(
      Contexts contexts, Translation translation, Doorbells doorbells, Port port, Hazards hazards) {
    this.doorbells = doorbells;
    this.port = port;
  }

  /**
   * Does what there is to do now.
   *
   * @param now nanoseconds
   * @return whether there was anything
   */
  boolean step(long now) {
    boolean worked = false;
    while (doorbells.hasEntry()) {
      doorbells.take();
      worked = true;
    }
    while (port.hasArrived()) {
      port.pool().giveBack(port.fetch());
      worked = true;
    }
    return worked;
  }

  /** As after power-on. */
  void reset() {}

  TransportCounters counters() {
    return counters;
  }

  /** CQEs written. */
  long completions() {
    return 0;
  }
}
