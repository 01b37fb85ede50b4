package org.hghca.driver.completion;

import java.util.ArrayDeque;
import org.hghca.verbs.Completions;

/**
 * Queue pairs in error for which the driver completes requests in one completion queue; usually
 * none. Under the completion queue's lock, except for {@link #any}.
 */
public final class FlushingQueuePairs {
  private final CompletionRing queue;
  private final ArrayDeque<DriverFlush> queuePairs = new ArrayDeque<>();
  private volatile boolean any;

  /** Number of completions generated. */
  private long given;

  public FlushingQueuePairs(CompletionRing queue) {
    this.queue = queue;
  }

  public boolean any() {
    return any;
  }

  /** Number of completions generated so far. */
  public long given() {
    return given;
  }

  public void add(DriverFlush flush) {
    if (!queuePairs.contains(flush)) {
      queuePairs.addLast(flush);
    }
    any = true;
  }

  public void remove(DriverFlush flush) {
    queuePairs.remove(flush);
    any = !queuePairs.isEmpty();
  }

  /** Whether a completion is available. */
  boolean isReady() {
    for (DriverFlush flush : queuePairs) {
      if (flush.isReady(queue)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Fills completions, after all of the card's.
   *
   * @param from the first place to fill
   * @param max the place behind the last
   * @param failures counts by status
   * @return the place behind the last that was filled
   */
  public int complete(Completions out, int from, int max, long[] failures) {
    int count = from;
    for (int left = queuePairs.size(); left > 0 && count < max; left--) {
      DriverFlush flush = queuePairs.removeFirst();
      count = flush.complete(queue, out, count, max, failures);
      if (!flush.isEmpty()) {
        queuePairs.addLast(flush);
      }
    }
    any = !queuePairs.isEmpty();
    given += count - from;
    return count;
  }
}
