package org.hghca.programs.perf;

import java.util.Locale;

/** A program of perftest. */
public enum PerfTest {
  IB_SEND_BW(Verb.SEND, true),
  IB_SEND_LAT(Verb.SEND, false),
  IB_WRITE_BW(Verb.WRITE, true),
  IB_WRITE_LAT(Verb.WRITE, false),
  IB_READ_BW(Verb.READ, true),
  IB_READ_LAT(Verb.READ, false),
  IB_ATOMIC_BW(Verb.ATOMIC, true),
  IB_ATOMIC_LAT(Verb.ATOMIC, false);

  private final Verb verb;
  private final boolean bandwidth;

  PerfTest(Verb verb, boolean bandwidth) {
    this.verb = verb;
    this.bandwidth = bandwidth;
  }

  public Verb verb() {
    return verb;
  }

  /** Whether it measures throughput; otherwise latency. */
  public boolean isBandwidth() {
    return bandwidth;
  }

  /** The name of the program, such as {@code ib_send_bw}. */
  public String program() {
    return name().toLowerCase(Locale.ROOT);
  }
}
