package org.hghca.driver.rtl.recovery;

import org.hghca.driver.completion.ErrorReports;
import org.hghca.driver.completion.QueuePairRings;
import org.hghca.verbs.WcStatus;

/**
 * Receives further reports of completions of a queue pair on the RTL. Rules as for {@link
 * ErrorReports}.
 */
public interface RtlReports extends ErrorReports {

  /** That of a queue pair: on the RTL each has such a receiver. */
  static RtlReports of(QueuePairRings qp) {
    return (RtlReports) qp.errors();
  }

  /** The status of a request that the card has failed without a reason. */
  WcStatus unknownCause();

  /** A receive of the given size has completed. */
  void received(int bytes);

  /** Number of packets of a message of the given size. */
  int packets(int bytes);

  /**
   * Takes a completion without a matching outstanding request.
   *
   * @param wqe the offset in it
   * @return false when it cannot be explained
   */
  boolean takeLate(boolean send, int wqe);

  /**
   * Whether {@link #takeLate} would take a completion.
   *
   * @param wqe the offset in it
   */
  boolean awaits(boolean send, int wqe);

  /**
   * Number of completions that the card may still generate for sends that were completed here and
   * for the driver's own elements.
   */
  int awaited();
}
