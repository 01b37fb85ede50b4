package org.hghca.model;

import org.hghca.model.card.StepBudget;

/**
 * What a simulation drives: a card at its port. Used under the simulation's lock, except where a
 * method says otherwise.
 */
interface Participant {
  /** Its name, for the log. Under any lock. */
  String name();

  /** What joins its port to others; null without that. */
  Segment segment();

  /**
   * Does a step; what it sends to a network outside of this process leaves with the next {@link
   * #flush}.
   *
   * @return whether anything was done
   */
  boolean step(long now, StepBudget budget);

  /**
   * Sends what the steps since the last call have left for the network.
   *
   * @return whether there is room now for what found none in these steps, which no other call
   *     announces
   */
  boolean flush();

  /** When {@link #step} is due if nothing happens before, {@code Long.MAX_VALUE}: never. */
  long nextDeadline();

  /** Whether packets have arrived that wait for a step. */
  boolean hasArrived();

  /** Bytes of payload that it has sent. */
  long bytesSent();

  /** Whether register writes wait for a step. Under any lock. */
  boolean hasRegisterWrites();

  /** Whether a step may wait for another process, which owns the memory. Under any lock. */
  boolean mayWait();

  /**
   * Whether a step may take a monitor, for which a virtual thread would leave its carrier. Under
   * any lock.
   */
  boolean takesMonitors();

  /** Whether it requires a thread that does not sleep. Under any lock. */
  boolean spins();

  /** Another has joined or left: its port may have come up or gone down. */
  void watchPort();

  /** A step has failed. */
  void failed(Throwable cause);

  /** Its port is unplugged, and what has arrived is dropped. */
  void leave();

  /**
   * Signals its host the interrupts that were raised in steps. Without the lock.
   *
   * @param here whether the calling thread holds no lock of a driver either, and may handle them
   */
  void deliverInterrupts(boolean here);
}
