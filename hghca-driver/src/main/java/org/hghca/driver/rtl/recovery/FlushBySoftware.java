package org.hghca.driver.rtl.recovery;

import org.hghca.driver.completion.CompletionRing;
import org.hghca.driver.completion.DriverFlush;
import org.hghca.driver.completion.QueuePairRings;
import org.hghca.driver.rtl.ring.CheckedReceiveRing;
import org.hghca.driver.rtl.ring.QuotaSendRing;
import org.hghca.driver.state.QueuePairState;
import org.hghca.provider.queue.FlushedRequests;
import org.hghca.verbs.Completions;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;

/**
 * The requests that the driver completes for a queue pair in ERR on a card that does not flush:
 * those posted in ERR, which the card never sees, and those left in the rings. All of them complete
 * after those that the card has completed.
 *
 * <p>A completion queue calls this under its lock, for its own direction; the queue pair opens and
 * ends under its monitor.
 */
public final class FlushBySoftware implements DriverFlush, QuotaSendRing.PostedInError {
  /** Vendor error of a send whose time-out the driver has detected; no card uses nine bits. */
  private static final int SOFTWARE_TIME_OUT = 0x100;

  /** Vendor error of a send that would have had the last PSN, on a card that stops there. */
  private static final int LAST_PSN = 0x101;

  private final QueuePairRings rings;
  private final QueuePairState state;
  private final QuotaSendRing sends;
  private final CheckedReceiveRing receives;
  private final NumberReuse reuse;
  private final FlushedRequests moreSends;
  private final FlushedRequests moreReceives;

  /** Whether the card takes no more receives. */
  private volatile boolean receivesEnded;

  /** Whether the card is expected to complete no more sends. */
  private volatile boolean sendsEnded;

  /** The status of the oldest send, if the driver knows the error; null if the card reported it. */
  private volatile WcStatus cause;

  /** Whether everything is flushed, so that later completions of the card are late. */
  private volatile boolean over;

  /** Sends that were completed here although they had been rung: the card may complete them. */
  private int awaited;

  FlushBySoftware(
      QueuePairRings rings,
      QueuePairState state,
      QueuePairCapabilities capabilities,
      NumberReuse reuse) {
    this.rings = rings;
    this.state = state;
    this.sends = QuotaSendRing.of(rings);
    this.receives = CheckedReceiveRing.of(rings);
    this.reuse = reuse;
    int number = rings.number();
    this.moreSends = new FlushedRequests(number, capabilities.sendDepth(), sends::outstanding);
    this.moreReceives =
        new FlushedRequests(number, capabilities.receiveDepth(), receives::outstanding);
  }

  /** The vendor error of a send that failed: the card's code, or the driver's. */
  public static int vendorError(WcStatus status, int said) {
    if (said != 0) {
      return said;
    }
    return switch (status) {
      case RETRY_EXC_ERR, RNR_RETRY_EXC_ERR -> SOFTWARE_TIME_OUT;
      case LOC_QP_OP_ERR -> LAST_PSN;
      default -> 0;
    };
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

  // ---- position

  /** Stops ringing until the next use: the card never sees held-back requests. */
  void stopRinging() {
    sends.stopRinging();
  }

  /** Makes a card in ERR flush its sends; false when no doorbell may be rung now. */
  boolean ringFlush() {
    return sends.ringFlush();
  }

  /** The card takes no more receives: those in the ring are flushed here. */
  void endReceives() {
    receivesEnded = true;
  }

  /** The card is not expected to complete more sends. */
  void endSends() {
    sendsEnded = true;
  }

  /** The driver knows the error of the oldest send. */
  void cause(WcStatus status) {
    cause = status;
  }

  /**
   * The status of a send that the card has failed without a reason.
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
   * Number of completions that the card may still generate for sends that were completed here and
   * for the driver's own elements.
   */
  int awaited() {
    return awaited + (sends.awaitsFlush() ? 1 : 0);
  }

  /** The queue pair is closed, but possibly not on the card. */
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
        && isDrained(rings.sendCompletions());
  }

  private boolean canFlushReceive() {
    return receivesEnded && receives.outstanding() != 0 && isDrained(rings.receiveCompletions());
  }

  /** Whether a queue holds no completion of the card. */
  private static boolean isDrained(CompletionRing queue) {
    return queue.isEmpty(queue.index());
  }

  @Override
  public int complete(CompletionRing queue, Completions out, int from, int max, long[] failures) {
    int count = from;
    if (queue == rings.sendCompletions()) {
      while (count < max && canFlushSend()) {
        WcStatus status = unknownCause(true);
        failures[status.code()]++;
        rings.countFailure(status);
        awaited += sends.isOldestUnrung() ? 0 : 1;
        count += sends.complete(out, count, status.code(), vendorError(status, 0), 0);
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

  /** Whether {@link #takeLate} or {@link QuotaSendRing#takeFlush} would take a completion. */
  boolean awaits(boolean send, int wqe) {
    return over || (send ? awaited != 0 || sends.isFlush(wqe) : receives.isFlushed());
  }

  /**
   * Whether a completion of the card without a matching request belongs to one that was completed
   * here.
   *
   * @param send whether it belongs to a send
   */
  boolean takeLate(boolean send) {
    if (!send && receives.isFlushed()) {
      // The card has advanced in a ring whose receives we have flushed.
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
