package org.hghca.model.rtl;

import org.hghca.model.transport.TransportCounters;

/** What lies behind the doorbells of a card. Used by the thread that does the steps. */
interface DataPath {

  /**
   * Does what there is to do now.
   *
   * @param now nanoseconds
   * @param most packets to receive, packets to answer with, and packets and WQEs to send, of each
   * @return whether anything was done
   */
  boolean step(long now, int most);

  /**
   * Lets so many packets of requests leave and then none, as when host memory does not answer reads
   * of payload; -1 lets all go.
   */
  void stallAfter(int packets);

  /** As after power-on. */
  void reset();

  TransportCounters counters();

  /** CQEs written. */
  long completions();
}
