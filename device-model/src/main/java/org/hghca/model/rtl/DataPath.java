package org.hghca.model.rtl;

import org.hghca.model.transport.TransportCounters;

/** What lies behind the doorbells of a card. Used by the thread that does the steps. */
interface DataPath {

  /**
   * Does what there is to do now.
   *
   * @param now nanoseconds
   * @return whether there was anything
   */
  boolean step(long now);

  /** As after power-on. */
  void reset();

  TransportCounters counters();

  /** CQEs written. */
  long completions();
}
