package org.hghca.driver.transition;

import org.hghca.driver.completion.CompletionRing;
import org.hghca.driver.completion.DriverFlush;
import org.hghca.driver.completion.QueuePairRings;
import org.hghca.provider.queue.FlushedRequests;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;

/**
 * Receives that the driver completes on a card that flushes its rings: those posted in ERR, when
 * the card no longer reads the ring.
 */
final class ReceiveFlush implements DriverFlush {
  private final QueuePairRings rings;
  private final FlushedRequests receives;

  /**
   * For a queue pair.
   *
   * @param depth maximum number of outstanding receives
   */
  ReceiveFlush(QueuePairRings rings, int depth) {
    this.rings = rings;
    this.receives = new FlushedRequests(rings.number(), depth, rings.receives()::outstanding);
  }

  @Override
  public boolean post(ReceiveRequest request) {
    return receives.post(request.wrId(), WcOpcode.RECV);
  }

  @Override
  public long sendsPosted() {
    return 0;
  }

  @Override
  public long receivesPosted() {
    return receives.posted();
  }

  @Override
  public boolean isReady(CompletionRing queue) {
    return queue == rings.receiveCompletions() && receives.isReady();
  }

  @Override
  public boolean isEmpty() {
    return receives.isEmpty();
  }

  @Override
  public int complete(CompletionRing queue, Completions out, int from, int max, long[] failures) {
    if (queue != rings.receiveCompletions()) {
      return from;
    }
    int count = receives.complete(out, from, max);
    failures[WcStatus.WR_FLUSH_ERR.code()] += count - from;
    return count;
  }

  /** The queue pair starts again. */
  void reset() {
    receives.clear();
  }
}
