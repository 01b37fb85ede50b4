package org.hghca.driver.rtl.recovery;

import java.util.concurrent.atomic.LongAdder;

/** Counters of events since bring-up that end queue pairs or retire numbers. Thread-safe. */
public final class RecoveryCounts {
  private final LongAdder late = new LongAdder();
  private final LongAdder underTraffic = new LongAdder();
  private final LongAdder atLastPsn = new LongAdder();

  /** The card has completed a request that was completed here before. Under any lock. */
  void countLateCompletion() {
    late.increment();
  }

  /** The card got the command to end a queue pair that was still sending. */
  void countEndUnderTraffic() {
    underTraffic.increment();
  }

  /** A queue pair has ended before its last PSN. */
  void countEndAtLastPsn() {
    atLastPsn.increment();
  }

  public long endedAtLastPsn() {
    return atLastPsn.sum();
  }

  public long lateCompletions() {
    return late.sum();
  }

  public long endedUnderTraffic() {
    return underTraffic.sum();
  }
}
