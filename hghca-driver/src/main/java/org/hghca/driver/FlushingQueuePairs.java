package org.hghca.driver;

import java.util.ArrayDeque;
import org.hghca.verbs.Completions;

/**
 * Queue pairs in error of which the driver completes something in one completion queue; usually
 * none. Under the completion queue's lock, except for {@link #any}.
 */
final class FlushingQueuePairs {
  private final HghcaCompletionQueue queue;
  private final ArrayDeque<HghcaQueuePair> queuePairs = new ArrayDeque<>();
  private volatile boolean any;

  /** How many completions were given. */
  private long given;

  FlushingQueuePairs(HghcaCompletionQueue queue) {
    this.queue = queue;
  }

  boolean any() {
    return any;
  }

  /** How many completions were given so far. */
  long given() {
    return given;
  }

  void add(HghcaQueuePair qp) {
    if (!queuePairs.contains(qp)) {
      queuePairs.addLast(qp);
    }
    any = true;
  }

  void remove(HghcaQueuePair qp) {
    queuePairs.remove(qp);
    any = !queuePairs.isEmpty();
  }

  /** Whether a completion can be had. */
  boolean isReady() {
    for (HghcaQueuePair qp : queuePairs) {
      if (qp.errorFlow().flush().isReady(queue)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Fills completions, behind all of the card's.
   *
   * @param from the first place to fill
   * @param max the place behind the last
   * @param failures counts by status
   * @return the place behind the last that was filled
   */
  int complete(Completions out, int from, int max, long[] failures) {
    int count = from;
    for (int left = queuePairs.size(); left > 0 && count < max; left--) {
      HghcaQueuePair qp = queuePairs.removeFirst();
      DriverFlush flush = qp.errorFlow().flush();
      count = flush.complete(queue, out, count, max, failures);
      if (!flush.isEmpty()) {
        queuePairs.addLast(qp);
      }
    }
    any = !queuePairs.isEmpty();
    given += count - from;
    return count;
  }
}
