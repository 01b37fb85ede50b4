package org.hghca.driver.rtl.recovery;

import org.hghca.driver.completion.ErrorReports;

/**
 * Receives further reports of completions of a queue pair on the RTL. Rules as for {@link
 * ErrorReports}.
 */
public interface RtlReports {

  /** A receive of the given size has completed. */
  void received(int bytes);

  /** Number of packets of a message of the given size. */
  int packets(int bytes);

  /**
   * Whether {@link ErrorReports#takeLate} would take a completion.
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
