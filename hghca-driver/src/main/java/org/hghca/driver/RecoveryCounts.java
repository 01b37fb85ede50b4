package org.hghca.driver;

import java.util.concurrent.atomic.LongAdder;

/** Counters of events since bring-up that retire numbers. Thread-safe. */
final class RecoveryCounts {
  private final LongAdder late = new LongAdder();
  private final LongAdder underTraffic = new LongAdder();

  /** The card has completed a request that was completed here before. Under any lock. */
  void countLateCompletion() {
    late.increment();
  }

  /** The card got the command to end a queue pair that was still sending. */
  void countEndUnderTraffic() {
    underTraffic.increment();
  }

  long lateCompletions() {
    return late.sum();
  }

  long endedUnderTraffic() {
    return underTraffic.sum();
  }
}
