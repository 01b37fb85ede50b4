package org.hghca.tools.perf.peers;

import org.hghca.programs.perf.result.LatencyResult;

/**
 * What came of a task at one end.
 *
 * @param p50 the median of the round trips, in microseconds; 0 of a stream
 * @param p99 99 % of the round trips took no longer, in microseconds; 0 of a stream
 * @param rate round trips or messages a second
 * @param processor nanoseconds that all threads of this process ran meanwhile
 */
record Outcome(double p50, double p99, double rate, long processor) {
  private static final double SECOND = 1e6;
  private static final double NANOS = 1e9;

  /**
   * Round trips.
   *
   * @param parts how many of the latencies make a round trip
   */
  static Outcome of(LatencyResult result, int parts, long processor) {
    return new Outcome(
        parts * result.typical(),
        parts * result.p99(),
        SECOND / (parts * result.average()),
        processor);
  }

  /** Messages one way. */
  static Outcome ofStream(long messages, long nanos, long processor) {
    return new Outcome(0, 0, messages * NANOS / Math.max(1, nanos), processor);
  }
}
