package org.hghca.driver.rtl.ring;

import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;
import org.hghca.abi.NextUnit;
import org.hghca.abi.WqeOpcode;
import org.hghca.driver.completion.QueuePairRings;
import org.hghca.driver.ring.RingShape;
import org.hghca.driver.ring.SendRing;
import org.hghca.driver.ring.SendWriter;
import org.hghca.provider.queue.SpinLock;
import org.hghca.uar.UarPage;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Completions;
import org.hghca.verbs.SendRequest;

/**
 * The send ring of a card that stops at a bad request and queues few doorbells: each request is
 * checked before it is written, and rung when {@link DoorbellScheduler} allows it. It always has a
 * lock, because other threads also ring for it. One slot more than the depth is reserved for an
 * element of the driver, which makes a card in ERR flush its requests.
 */
public final class QuotaSendRing extends SendRing implements DoorbellQuota.Waiting {
  private final SendChecks checks;
  private final DoorbellQuota inFlight;
  private final DoorbellScheduler scheduler;
  private final boolean datagrams;

  /** Takes requests in ERR, which this card does not flush. */
  public interface PostedInError {
    /** Takes none. */
    PostedInError NONE =
        new PostedInError() {
          @Override
          public boolean takesSends() {
            return false;
          }

          @Override
          public boolean post(SendRequest request) {
            return false;
          }
        };

    /** Whether the queue pair is in ERR. */
    boolean takesSends();

    /** Takes a request; false if the queue is full. */
    boolean post(SendRequest request);
  }

  private PostedInError postedInError = PostedInError.NONE;

  /** The position of the driver's own element; below 0 when there is none. */
  private volatile int flushOffset = -1;

  /** The payment for its doorbell. */
  private int flushPayment;

  /**
   * A ring over zeroed memory.
   *
   * @param refusal makes the exception for posting to a closed ring
   */
  public QuotaSendRing(
      RingShape shape,
      SendWriter writer,
      UarPage uar,
      SpinLock lock,
      Supplier<BadRequestException> refusal,
      SendChecks checks,
      DoorbellQuota inFlight) {
    super(shape, writer, uar, lock, refusal);
    this.checks = checks;
    this.datagrams = writer.isOfDatagrams();
    this.inFlight = inFlight;
    this.scheduler = new DoorbellScheduler(inFlight, this, shape, uar);
  }

  /** That of a queue pair: on the RTL each has such a ring. */
  public static QuotaSendRing of(QueuePairRings qp) {
    return (QuotaSendRing) qp.sends();
  }

  /**
   * Sets the taker of requests that are posted in ERR, and an action for the end of the PSNs. Must
   * be called before the first post.
   */
  public void flushedBy(PostedInError flush, Runnable onLastPsn) {
    this.postedInError = flush;
    scheduler.psn().onLast(onLastPsn);
  }

  // ---- posting

  @Override
  public boolean post(SendRequest request) {
    lock();
    try {
      boolean posted = post(request, 0);
      scheduler.ringHeldBack();
      return posted;
    } finally {
      unlock();
      inFlight.ringWaiting();
    }
  }

  @Override
  public int post(SendRequest[] requests, int from, int count) {
    lock();
    int posted = 0;
    try {
      while (posted < count && post(requests[from + posted], posted)) {
        posted++;
      }
      return posted;
    } finally {
      try {
        scheduler.ringHeldBack();
      } finally { // the doorbell faults when its card is gone
        unlock();
        inFlight.ringWaiting();
      }
    }
  }

  /** Enqueued requests wait like any others; other threads may ring for them before the flush. */
  @Override
  public boolean enqueue(SendRequest request) {
    lock();
    try {
      boolean taken = hold(request, operation(request), 0);
      if (!taken) {
        scheduler.ringHeldBack();
      }
      return taken;
    } finally {
      unlock();
      inFlight.ringWaiting();
    }
  }

  @Override
  public void flush() {
    lock();
    try {
      scheduler.ringHeldBack();
    } finally {
      unlock();
      inFlight.ringWaiting();
    }
  }

  /** Checks and writes a request, and rings if nothing holds it back; false without room. */
  private boolean post(SendRequest request, int index) {
    int operation = operation(request);
    int at = head();
    if (isFull() || !scheduler.mayRingAtOnce(at, operation)) {
      return hold(request, operation, index);
    }
    long bytes = checks.check(request, operation, index);
    int size = write(request, operation, index);
    scheduler.ringAtOnce(at, size, operation, bytes);
    return true;
  }

  /** Checks and writes a request, and rings no doorbell; false when there is no room. */
  private boolean hold(SendRequest request, int operation, int index) {
    if (isFull()) {
      checkOpen();
      return !isOpen() && postInError(request, operation, index);
    }
    int at = head();
    long bytes = checks.check(request, operation, index);
    int size = write(request, operation, index);
    scheduler.add(at, size, operation, bytes);
    return true;
  }

  /** Takes a request that is not passed to the card. */
  private boolean postInError(SendRequest request, int operation, int index) {
    checks.check(request, operation, index);
    return postedInError.post(request);
  }

  @Override
  protected void checkOpen() {
    if (!postedInError.takesSends()) {
      super.checkOpen();
    }
  }

  @Override
  protected void opened() {
    if (!isOpen() && postedInError.takesSends()) {
      scheduler.stop();
    }
  }

  @Override
  protected void forget() {
    scheduler.reset();
    if (flushOffset >= 0) {
      flushOffset = -1;
      inFlight.giveBack(flushPayment, false, 0);
    }
  }

  @Override
  public boolean opensInError() {
    return false;
  }

  /** Whether an outstanding request names memory by its key. */
  public boolean names(int key) {
    lock();
    try {
      int end = head();
      for (int at = tail(); at - end < 0; at++) {
        if (names(at, key)) {
          return true;
        }
      }
      return false;
    } finally {
      unlock();
    }
  }

  private boolean names(int at, int key) {
    MemorySegment whole = scheduler.whole(at);
    return whole == null
        ? WrittenElements.names(ring, offset(at), datagrams, key)
        : WrittenElements.names(whole, 0, datagrams, key);
  }

  // ---- doorbells

  @Override
  public boolean ringInTurn() {
    lock();
    try {
      return scheduler.ringInTurn();
    } finally {
      unlock();
    }
  }

  @Override
  public void returnShare() {
    lock();
    try {
      scheduler.returnShare();
    } finally {
      unlock();
    }
  }

  /** Rings for held-back requests, as far as the limits allow. */
  public void ringHeld() {
    if (scheduler.holds()) {
      lock();
      try {
        scheduler.ringHeldBack();
      } finally {
        unlock();
      }
    }
  }

  /** Whether requests are held back; read without the lock. */
  public boolean holds() {
    return scheduler.holds();
  }

  /** Requests go in packets of so many bytes, a power of two by its logarithm. */
  public void path(int packetLog) {
    lock();
    try {
      scheduler.psn().path(packetLog);
      checks.path(packetLog);
    } finally {
      unlock();
    }
  }

  /** As {@link #path(int)}, to a queue pair of this device. */
  public void path(int packetLog, int qpn) {
    lock();
    try {
      scheduler.psn().path(packetLog);
      checks.path(packetLog, qpn);
    } finally {
      unlock();
    }
  }

  /**
   * Sends start.
   *
   * @param psn of the first packet; 24 bits
   */
  public void startAt(int psn) {
    lock();
    try {
      scheduler.psn().startAt(psn);
    } finally {
      unlock();
    }
  }

  /** Sets what takes the PSN over the wrap, until the next reset. */
  public void wrapBy(WrapReads reads) {
    lock();
    try {
      scheduler.psn().wrapBy(reads);
    } finally {
      unlock();
    }
  }

  /** Whether the queue pair ends before the last PSN, since nothing takes it over the wrap. */
  public boolean endsAtLastPsn() {
    lock();
    try {
      return scheduler.psn().endsAtLast();
    } finally {
      unlock();
    }
  }

  /** Number of packets before the one with the last PSN. */
  public long psnsLeft() {
    lock();
    try {
      return scheduler.psn().left();
    } finally {
      unlock();
    }
  }

  /** Whether it has stopped ringing because the next request would have the last PSN. */
  public boolean isAtLastPsn() {
    return scheduler.psn().isAtLast();
  }

  /** Stops ringing until the next reset: the card never sees held-back requests. */
  public void stopRinging() {
    lock();
    try {
      scheduler.stop();
    } finally {
      unlock();
    }
  }

  @Override
  public long doorbells() {
    return scheduler.rung();
  }

  // ---- requests on the card

  /** Number of outstanding requests that have been rung. */
  public int rung() {
    lock();
    try {
      return scheduler.rungBehind(tail());
    } finally {
      unlock();
    }
  }

  /** Number of packets of all requests that have been rung since the ring was created. */
  public long packets() {
    lock();
    try {
      return scheduler.psn().packets();
    } finally {
      unlock();
    }
  }

  /** Whether a request has been rung since the ring was created or reset. */
  public boolean hasRung() {
    lock();
    try {
      return scheduler.from() != 0;
    } finally {
      unlock();
    }
  }

  /** Whether the oldest outstanding request is never rung. */
  public boolean isOldestUnrung() {
    return scheduler.isNeverRung(tail()) && outstanding() > 0;
  }

  /**
   * When an outstanding request was rung, in ticks of {@link DoorbellQuota}.
   *
   * @param behind how many older ones there are
   */
  public int tick(int behind) {
    return scheduler.tick(tail() + behind);
  }

  /**
   * Whether an outstanding request consumes a receive of the peer.
   *
   * @param behind how many older ones there are
   */
  public boolean needsReceive(int behind) {
    return switch (NextUnit.opcode(ring, offset(tail() + behind))) {
      case WqeOpcode.SEND, WqeOpcode.SEND_IMM, WqeOpcode.RDMA_WRITE_IMM -> true;
      default -> false;
    };
  }

  // ---- completions, under the completion queue's lock

  /**
   * The oldest outstanding request is complete, or a step of it, and has succeeded.
   *
   * @return 1 when a completion was filled, else 0
   */
  public int succeed(Completions out, int index, int bytes) {
    int at = ownTail();
    if (scheduler.completeUnmarked(at)) {
      return super.complete(out, index, 0, 0, bytes);
    }
    return completeStep((int) offset(at)) ? 0 : complete(out, index, 0, 0, bytes);
  }

  @Override
  public int complete(Completions out, int index, int status, int vendorError, int bytes) {
    int moved = scheduler.complete(ownTail(), bytes);
    return super.complete(out, index, status, vendorError, moved);
  }

  /**
   * There is an unpolled completion in the queue.
   *
   * @param offset of its request, or of any other element
   * @return whether that is new
   */
  public boolean completeUnpolled(int offset) {
    int at = position(offset);
    return at - tail() < outstanding() && scheduler.completeUnpolled(at);
  }

  /** How many steps of requests were complete so far, beside the last ones. */
  public int steps() {
    return scheduler.steps();
  }

  /**
   * Takes the completion of a step of an unfinished request, which may free a doorbell.
   *
   * @param offset of its element
   * @return false when it belongs to another request
   */
  public boolean completeStep(int offset) {
    int at = position(offset);
    if (!scheduler.isStep(at)) {
      return false;
    }
    lock();
    try {
      scheduler.completeStep(at);
      return true;
    } finally {
      unlock();
    }
  }

  /** The same applies to steps of a request other than the last. */
  @Override
  public boolean isOldestSilent() {
    return super.isOldestSilent() || scheduler.isStep(tail());
  }

  // ---- the driver's own element

  /**
   * Rings for the driver's own element after all requests, which makes a card in ERR flush its
   * uncompleted requests. It uses the one slot that requests leave free.
   *
   * @return false when no doorbell may be rung now
   */
  public boolean ringFlush() {
    lock();
    try {
      int offset = (int) offset(head());
      int size = WrittenElements.writeFlush(ring, offset);
      flushPayment = inFlight.payOwn();
      boolean paid = flushPayment != DoorbellQuota.REFUSED;
      if (paid) {
        scheduler.ringElement(offset, size);
      }
      flushOffset = paid ? offset : -1;
      return paid;
    } finally {
      unlock();
    }
  }

  /** Whether the card has not completed our own element. */
  public boolean awaitsFlush() {
    return flushOffset >= 0;
  }

  /** Whether the element at an offset is our own. */
  public boolean isFlush(int offset) {
    return offset >= 0 && offset == flushOffset;
  }

  /**
   * Takes the completion of our own element.
   *
   * @return false when the element at this offset is not the driver's
   */
  public boolean takeFlush(int offset) {
    boolean ours = isFlush(offset);
    if (ours) {
      flushOffset = -1;
      inFlight.giveBack(flushPayment, false, 0);
    }
    return ours;
  }
}
