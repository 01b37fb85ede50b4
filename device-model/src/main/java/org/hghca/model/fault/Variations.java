package org.hghca.model.fault;

import java.util.List;
import org.hghca.abi.Bar;

/** Cards that differ from others and are right nevertheless. */
final class Variations {
  private Variations() {}

  /** All of them. */
  static List<Fault> list() {
    return List.of(
        new Fault(
            "slow-commands",
            Fault.HCAS,
            "each command takes 1 ms, 50 times as long as usual",
            Fault.LEGAL,
            SlowCommands::new),
        new Fault(
            "slow-completion",
            Fault.ALL,
            "a send begins 20 ms after its doorbell; 2 ms on r1 and r2, where a long READ has many",
            Fault.LEGAL,
            () -> new LateDoorbells(20_000_000, 2_000_000)),
        new Fault(
            "one-vector",
            Fault.NOT_RTL,
            "the function has one interrupt vector",
            Fault.LEGAL,
            () -> ChangedIdentity.vectors(1)),
        new Fault(
            "large-bar2",
            Fault.HCAS,
            "BAR2 has 16 MiB instead of 8 MiB",
            Fault.LEGAL,
            () -> ChangedIdentity.bar2(2L * Bar.BAR2_SIZE)),
        new Fault(
            "small-limits",
            Fault.NOT_RTL,
            "the card reports 64 queue pairs, short queues and few regions",
            Fault.LEGAL,
            () -> ChangedData.of(Use.LIMITS, ChangedAnswers::smallLimits)),
        new Fault(
            "other-guid",
            Fault.DOCUMENT,
            "the board id of QUERY_ADAPTER is another one",
            Fault.LEGAL,
            () -> ChangedData.of(Use.ADAPTER, ChangedAnswers::otherBoard)));
  }
}
