package org.hghca.model.rtl;

import org.hghca.model.transport.TransportCounters;

/** The data path behind the doorbells of a card. Used by the thread that does the steps. */
public interface DataPath {

  /**
   * Does all work that is due.
   *
   * @param now nanoseconds
   * @param most requests and as many answers to receive, packets to answer with, and packets and
   *     WQEs to send, of each
   * @return whether anything was done
   */
  boolean step(long now, int most);

  /**
   * Limits the number of request packets that leave, as if host memory did not answer payload
   * reads; -1 removes the limit.
   */
  void stallAfter(int packets);

  /** As after power-on. */
  void reset();

  TransportCounters counters();

  /** CQEs written. */
  long completions();
}
