package org.hghca.driver;

/** What else hears of a queue pair from its completions on the RTL. As {@link ErrorReports}. */
interface RtlReports {

  /** A receive of so many bytes has completed. */
  void received(int bytes);

  /** How many packets a message of so many bytes has. */
  int packets(int bytes);

  /**
   * Whether {@link ErrorReports#takeLate} would take a completion.
   *
   * @param wqe the offset that it names
   */
  boolean awaits(boolean send, int wqe);

  /**
   * How many completions the card may still give of sends that were completed here and of elements
   * that are nobody's.
   */
  int awaited();
}
