package org.hghca.programs.perf.result;

/** One row of the results. */
public sealed interface Figure permits BandwidthReport, LatencyResult, DurationLatency {
  /** Bytes of a message. */
  long size();

  /** Messages that count. */
  long iterations();
}
