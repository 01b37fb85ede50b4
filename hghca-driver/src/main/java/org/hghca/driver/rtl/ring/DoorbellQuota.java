package org.hghca.driver.rtl.ring;

import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import org.hghca.abi.HardwareProfile;

/**
 * The requests that may be rung now, on a card that loses requests, or stops, beyond its capacity.
 * It limits the outstanding requests of one queue pair, and for the whole card those of all, the
 * bytes that READs fetch, and the bytes of all requests while there is a READ. {@link
 * DoorbellScheduler} calls it.
 *
 * <p>A ring that waits for others is in a list here until it has had its turn, first come, first
 * served: while there are any, no other ring takes anything. While there are none, a ring keeps
 * what it has taken as its share, except for READs, so that its next requests need no atomic
 * instruction. Thread-safe.
 */
public final class DoorbellQuota {
  /** In place of a payment: the request must wait. */
  static final int REFUSED = InFlightCount.REFUSED;

  /** Payments, as flags of a slot: a request of the card's limit, and one with its bytes. */
  static final int ONE = InFlightCount.WITHOUT_BYTES;

  static final int WITH_BYTES = InFlightCount.WITH_BYTES;

  /** More bytes than any request has: those of a share that was taken without its bytes. */
  static final long UNCOUNTED = 1L << 32;

  private static final int MOST_SHARE = 8;

  /** After so many turns a thread leaves the rest to others. */
  private static final int MOST_TURNS = 256;

  /** For how many ticks the driver's own element has precedence after it was refused. */
  private static final int OWN_TICKS = 2;

  private final int window;
  private final int pieceOfRead;
  private final boolean boundsBytes;
  private final InFlightCount count;
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  private final Set<Waiting> sharers = new LinkedHashSet<>();
  private final LongAdder carryingReads = new LongAdder();
  private final LongAdder carriedWraps = new LongAdder();

  /** Number of rings in the list, and whether any ring has a share. */
  private volatile int waitingCount;

  private volatile boolean shared;

  /** Whether rings keep shares: nothing waits. */
  private volatile boolean calm = true;

  /** A ring that takes part in the limits. */
  interface Waiting {

    /**
     * Rings for one held-back request, because this ring has its turn.
     *
     * @return whether it has had its turn; false while the limits refuse its request
     */
    boolean ringInTurn();

    /** Returns the part of its share that is not in flight. */
    void returnShare();
  }

  private Runnable onHold = () -> {};
  private volatile int tick;
  private volatile int ownTick = -OWN_TICKS - 1;

  /**
   * The limits of a card.
   *
   * @param window maximum number of outstanding requests of one queue pair
   * @param inFlight maximum number of requests in flight on the card
   */
  public DoorbellQuota(HardwareProfile profile, int window, int inFlight) {
    this.window = window;
    this.pieceOfRead = profile.readPiece();
    this.boundsBytes = profile.readBytesInFlight() != HardwareProfile.UNBOUNDED;
    this.count =
        new InFlightCount(inFlight, profile.readBytesInFlight(), profile.bytesInFlightBesideRead());
  }

  /** Sets an action for every held-back request. Must be called before the first one. */
  public void onHold(Runnable action) {
    onHold = action;
  }

  /** Maximum number of outstanding requests of one queue pair. */
  int window() {
    return window;
  }

  /** Maximum number of bytes that one READ may fetch at a time, a power of two. */
  int pieceOfRead() {
    return pieceOfRead;
  }

  /** Maximum number of requests that a ring keeps as its share. */
  int mostShare() {
    return Math.min(window, MOST_SHARE);
  }

  /** Whether rings keep shares: a glance, which {@link #await} makes certain. */
  boolean isCalm() {
    return calm;
  }

  /** As {@link #isCalm}, for a request that may be a READ. */
  boolean keepsShares(boolean read) {
    return calm && !(read && boundsBytes);
  }

  // ---- ticks of doorbells

  /** Starts a new tick, to distinguish later doorbells from earlier ones. One thread. */
  public synchronized void nextTick() {
    int next = tick + 1;
    tick = next;
    count();
  }

  public int tick() {
    return tick;
  }

  // ---- paying for a request

  /**
   * Pays for a request.
   *
   * @param read whether it is a READ
   * @param bytes that it moves
   * @param turn whether the ring has its turn among the waiting ones
   * @return the payment, or {@link #REFUSED} when the request must wait
   */
  int pay(boolean read, long bytes, boolean turn) {
    if (!turn && waitingCount != 0 || ownWaits() && count.isAlmostFull()) {
      return REFUSED;
    }
    boolean bound = read && boundsBytes;
    if (bound && !count.countsBytes()) {
      count.countBytes();
    }
    return count.take(bound, bytes);
  }

  /** Returns the payment of a request, which may have other bits beside it. */
  void giveBack(int payment, boolean read, long bytes) {
    if ((payment & WITH_BYTES) != 0) {
      count.give(read && boundsBytes, bytes);
    } else if ((payment & ONE) != 0) {
      count.give(1);
    }
  }

  /** The flags of a slot without the payment. */
  static int withoutPayment(int mark) {
    return mark & ~(ONE | WITH_BYTES);
  }

  /**
   * Pays for an element of the driver. Once it was refused, requests leave room for it.
   *
   * @return the payment, or {@link #REFUSED} when there is no room now
   */
  synchronized int payOwn() {
    int payment = count.take(false, 0);
    ownTick = payment == REFUSED ? tick : tick - OWN_TICKS - 1;
    count();
    return payment;
  }

  // ---- shares

  /** A ring has a share from now on. Callers hold its lock. */
  synchronized void shares(Waiting ring) {
    sharers.add(ring);
    shared = true;
  }

  /**
   * Returns a part of a share. Callers hold the ring's lock.
   *
   * @param bytes of each of its requests, or {@link #UNCOUNTED}
   */
  void giveShare(int requests, long bytes) {
    if (bytes == UNCOUNTED) {
      count.give(requests);
    } else {
      count.give(requests, bytes);
    }
  }

  /** A ring has no share any more. Callers hold its lock. */
  synchronized void sharesNoMore(Waiting ring) {
    sharers.remove(ring);
    shared = !sharers.isEmpty();
  }

  private synchronized List<Waiting> sharers() {
    return List.copyOf(sharers);
  }

  // ---- counters

  /** A READ carries a PSN towards the wrap, or over it. */
  void countCarryingRead() {
    carryingReads.increment();
  }

  /** READs have carried a PSN over the wrap. */
  void countCarriedWrap() {
    carriedWraps.increment();
  }

  /** Number of READs that carried PSNs over the wrap. */
  public long carryingReads() {
    return carryingReads.sum();
  }

  /** Number of times that they did. */
  public long carriedWraps() {
    return carriedWraps.sum();
  }

  // ---- those who wait

  /** A ring holds requests back. Callers hold its lock. */
  void holds() {
    onHold.run();
  }

  /** A ring waits for others, and is not in the list. Callers hold its lock. */
  synchronized void await(Waiting ring) {
    waiting.addLast(ring);
    count();
  }

  /** Whether it is the turn of a ring. */
  @SuppressWarnings("ReferenceEquality") // a ring is itself
  synchronized boolean isFirst(Waiting ring) {
    return waiting.peekFirst() == ring;
  }

  /**
   * A ring in the list has had its turn: it leaves, or moves to the end if it has more. Callers
   * hold its lock.
   */
  synchronized void endTurn(Waiting ring, boolean waits) {
    waiting.remove(ring); // usually the first
    if (waits) {
      waiting.addLast(ring);
    }
    count();
  }

  private void count() {
    waitingCount = waiting.size();
    calm = waitingCount == 0 && !ownWaits();
  }

  /** Whether an element of the driver was refused not long ago, and none was taken since. */
  private boolean ownWaits() {
    return tick - ownTick <= OWN_TICKS;
  }

  /**
   * Rings for waiting requests, as far as the limits allow, including budget that the caller has
   * just returned. Callers hold no lock of a ring or a completion queue.
   */
  public void ringWaiting() {
    // A ring that enters the list after this read finds the budget that was returned before it:
    // both are volatile accesses, and so are those of the ring, the other way round.
    if (waitingCount != 0) {
      ringAll();
    } else if (shared && ownWaits()) {
      boolean _ = collectShares();
    }
  }

  private void ringAll() {
    for (int left = MOST_TURNS; left > 0 && (shared || !count.isFull()); left--) {
      Waiting ring = first();
      if (ring == null || !ring.ringInTurn() && !(collectShares() && ring.ringInTurn())) {
        return;
      }
    }
  }

  /** Takes back what rings keep and do not use; returns whether any had a share. */
  private boolean collectShares() {
    if (!shared) {
      return false;
    }
    sharers().forEach(Waiting::returnShare);
    return true;
  }

  /**
   * The ring whose turn it is. It stays in the list until it has had its turn: another thread waits
   * for that and does not skip it.
   */
  private synchronized Waiting first() {
    return waiting.peekFirst();
  }

  /** Number of rings that wait for others. */
  int waiting() {
    return waitingCount;
  }
}
