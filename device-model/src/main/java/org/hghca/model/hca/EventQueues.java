package org.hghca.model.hca;

import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import org.hghca.abi.EventQueueContext;

/** The contexts of the event queues, which stand in interconnect context memory. */
final class EventQueues {
  private final HostMemory host;
  private final Icm icm;
  private final BitSet owned = new BitSet();

  EventQueues(HostMemory host, Icm icm) {
    this.host = host;
    this.icm = icm;
  }

  /** Forgets which queues are the card's. */
  void reset() {
    owned.clear();
  }

  boolean owns(int eqn) {
    return eqn >= 0 && owned.get(eqn);
  }

  /**
   * SW2HW_EQ: takes a queue over from software.
   *
   * @return false when the number is wrong, it is the card's already, or its place in ICM cannot be
   *     reached
   */
  boolean take(int eqn, MemorySegment mailbox) {
    long at = icm.eventQueue(eqn);
    if (at == Icm.NONE
        || owned.get(eqn)
        || !host.write(at, mailbox, 0, EventQueueContext.LAYOUT.size())) {
      return false;
    }
    owned.set(eqn);
    return true;
  }

  /**
   * HW2SW_EQ: gives a queue back to software.
   *
   * @return false when it is not the card's
   */
  boolean release(int eqn) {
    boolean held = owns(eqn);
    if (held) {
      owned.clear(eqn);
    }
    return held;
  }
}
