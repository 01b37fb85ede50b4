package org.hghca.driver;

import org.hghca.provider.FlushedRequests;
import org.hghca.verbs.Completions;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;

/**
 * What the driver completes of a queue pair in ERR on a card that flushes nothing: requests that
 * were posted to it there and that the card never sees, and what it has left in the rings. All of
 * it behind what the card has completed.
 *
 * <p>A completion queue calls this under its lock, for its own direction; the queue pair opens and
 * ends under its monitor.
 */
final class SoftwareFlush implements DriverFlush, BudgetedSendRing.PostedInError {
  private final QueuePairRings rings;
  private final QueuePairState state;
  private final BudgetedSendRing sends;
  private final ReceiveRing receives;
  private final NumberReuse reuse;
  private final FlushedRequests moreSends;
  private final FlushedRequests moreReceives;

  /** Whether the card takes no receive any more. */
  private volatile boolean receivesEnded;

  /** Whether the card is expected to complete no send any more. */
  private volatile boolean sendsEnded;

  /** What the oldest send fails with, where the driver knows why; null when it was reported. */
  private volatile WcStatus cause;

  /** Whether all is over, and whatever the card still says is late. */
  private volatile boolean over;

  /** Sends that were completed here although they had been rung: the card may complete them. */
  private int awaited;

  SoftwareFlush(
      QueuePairRings rings,
      QueuePairState state,
      QueuePairCapabilities capabilities,
      NumberReuse reuse) {
    this.rings = rings;
    this.state = state;
    this.sends = rings.budgetedSends();
    this.receives = rings.receives();
    this.reuse = reuse;
    int number = rings.number();
    this.moreSends = new FlushedRequests(number, capabilities.sendDepth(), sends::outstanding);
    this.moreReceives =
        new FlushedRequests(number, capabilities.receiveDepth(), receives::outstanding);
  }

  // ---- posting in ERR

  @Override
  public boolean post(SendRequest request) {
    return moreSends.post(request.wrId(), request.opcode().completion());
  }

  @Override
  public boolean post(ReceiveRequest request) {
    return moreReceives.post(request.wrId(), WcOpcode.RECV);
  }

  @Override
  public long sendsPosted() {
    return moreSends.posted();
  }

  @Override
  public long receivesPosted() {
    return moreReceives.posted();
  }

  // ---- where it stands

  /** Rings no more until the next life: what is held back the card never sees. */
  void stopRinging() {
    sends.stopRinging();
  }

  /** Has a card in ERR flush its sends; false when no doorbell may be rung now. */
  boolean ring() {
    return sends.ringFlush();
  }

  /** The card takes no receive any more: those that it has are flushed here. */
  void endReceives() {
    receivesEnded = true;
  }

  /** The card completes no send any more, as far as anybody can know. */
  void endSends() {
    sendsEnded = true;
  }

  /** The driver knows why the oldest send fails. */
  void cause(WcStatus status) {
    cause = status;
  }

  /**
   * The status of a send that the card has failed without saying why.
   *
   * @param known whether the queue pair was in error before
   */
  WcStatus unknownCause(boolean known) {
    WcStatus status = cause;
    if (status != null) {
      cause = null;
      return status;
    }
    return known ? WcStatus.WR_FLUSH_ERR : WcStatus.GENERAL_ERR;
  }

  @Override
  public boolean takesSends() {
    return state.isFlushed();
  }

  /**
   * How many completions the card may still give of sends that were completed here and of elements
   * that are nobody's.
   */
  int awaited() {
    return awaited + (sends.awaitsFlush() ? 1 : 0);
  }

  /** The queue pair is closed, and the card may not know it. */
  void over() {
    over = true;
  }

  /** The queue pair starts again. */
  void reset() {
    moreSends.clear();
    moreReceives.clear();
    receivesEnded = false;
    sendsEnded = false;
    cause = null;
    awaited = 0;
  }

  // ---- under a completion queue's lock

  @Override
  public boolean isReady(CompletionRing queue) {
    return queue == rings.sendCompletions() && (canFlushSend() || moreSends.isReady())
        || queue == rings.receiveCompletions() && (canFlushReceive() || moreReceives.isReady());
  }

  @Override
  public boolean isEmpty() {
    return moreSends.isEmpty() && moreReceives.isEmpty() && !state.isFlushed();
  }

  private boolean canFlushSend() {
    return (sendsEnded || sends.isOldestUnrung())
        && sends.outstanding() != 0
        && rings.sendCompletions().isDrained();
  }

  private boolean canFlushReceive() {
    return receivesEnded && receives.outstanding() != 0 && rings.receiveCompletions().isDrained();
  }

  @Override
  public int complete(CompletionRing queue, Completions out, int from, int max, long[] failures) {
    int count = from;
    if (queue == rings.sendCompletions()) {
      while (count < max && canFlushSend()) {
        WcStatus status = unknownCause(true);
        failures[status.code()]++;
        awaited += sends.isOldestUnrung() ? 0 : 1;
        count += sends.complete(out, count, status.code(), DriverFlush.vendorError(status, 0), 0);
      }
      int before = count;
      count = moreSends.complete(out, count, max);
      failures[WcStatus.WR_FLUSH_ERR.code()] += count - before;
    }
    if (queue == rings.receiveCompletions()) {
      int before = count;
      while (count < max && canFlushReceive()) {
        receives.flush(out, count++);
      }
      count = moreReceives.complete(out, count, max);
      failures[WcStatus.WR_FLUSH_ERR.code()] += count - before;
    }
    return count;
  }

  /** Whether {@link #takeLate} or {@link BudgetedSendRing#takeFlush} would take a completion. */
  boolean awaits(boolean send, int wqe) {
    return over || (send ? awaited != 0 || sends.isFlush(wqe) : receives.isFlushed());
  }

  /**
   * Whether a completion of the card that fits no request is one of those that were completed here.
   *
   * @param send whether it is of a send
   */
  boolean takeLate(boolean send) {
    if (!send && receives.isFlushed()) {
      // The card has gone on in a ring whose receives we have flushed.
      reuse.markPositionUnknown();
      receives.completeFlushed();
      return true;
    }
    if (over) {
      return true;
    }
    if (send && awaited != 0) {
      awaited--;
      return true;
    }
    return false;
  }
}
