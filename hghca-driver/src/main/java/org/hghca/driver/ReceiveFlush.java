package org.hghca.driver;

import org.hghca.provider.FlushedRequests;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;

/**
 * What the driver completes on a card that flushes its rings: receives that are posted in ERR, when
 * the card looks at the ring no more.
 */
final class ReceiveFlush implements DriverFlush {
  private final HghcaQueuePair qp;
  private final FlushedRequests receives;

  ReceiveFlush(HghcaQueuePair qp, ReceiveRing ring) {
    this.qp = qp;
    this.receives =
        new FlushedRequests(qp.number(), qp.capabilities().receiveDepth(), ring::outstanding);
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
  public boolean isReady(HghcaCompletionQueue queue) {
    return queue == qp.receiveCompletionQueue() && receives.isReady();
  }

  @Override
  public boolean isEmpty() {
    return receives.isEmpty();
  }

  @Override
  public int complete(
      HghcaCompletionQueue queue, Completions out, int from, int max, long[] failures) {
    if (queue != qp.receiveCompletionQueue()) {
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
