package org.hghca.driver;

import java.util.concurrent.atomic.LongAdder;

/** What has happened on a device since it was brought up that costs numbers. Thread-safe. */
final class RecoveryCounts {
  private final LongAdder late = new LongAdder();
  private final LongAdder underTraffic = new LongAdder();

  /** The card has completed something that was completed here before. Under any lock. */
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
