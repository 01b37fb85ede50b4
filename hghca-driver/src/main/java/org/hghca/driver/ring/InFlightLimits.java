package org.hghca.driver.ring;

import java.util.ArrayDeque;
import org.hghca.abi.HardwareProfile;

/**
 * The requests that may be rung now, on a card that loses requests, or stops, beyond its capacity.
 * It limits three things: the outstanding requests of one queue pair, the doorbells of all, and the
 * bytes that READs fetch at a time. {@link DoorbellScheduler} calls it.
 *
 * <p>A ring that waits for others is in a list here until it has had its turn. Thread-safe.
 */
public final class InFlightLimits {
  /** In place of a payment: the request must wait. */
  static final int REFUSED = -1;

  /** Payments, as flags: a doorbell of the reserve, not of the ring's share; bytes of a READ. */
  private static final int OF_RESERVE = 1;

  private static final int OF_READS = 2;

  private final int window;
  private final DoorbellBudget doorbells;
  private final ReadBound reads;
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();

  /** Number of rings in the list. */
  private volatile int waitingCount;

  /**
   * Whether the first of them has a READ that is too long to start now: no other ring passes it.
   */
  private volatile boolean firstWantsBytes;

  /** A ring that waits for others. */
  interface Waiting {

    /** Rings for held-back requests, because this ring has its turn. */
    void ringInTurn();
  }

  private Runnable onHold = () -> {};
  private volatile int tick;

  /**
   * The limits of a card.
   *
   * @param window maximum number of outstanding requests of one queue pair
   */
  public InFlightLimits(HardwareProfile profile, int window) {
    this.window = window;
    this.doorbells = new DoorbellBudget(profile.doorbellsInFlight(), window);
    this.reads = new ReadBound(profile.readBytesInFlight());
  }

  /** Sets an action for every held-back request. Must be called before the first one. */
  public void onHold(Runnable action) {
    onHold = action;
  }

  /** Maximum number of outstanding requests of one queue pair. */
  int window() {
    return window;
  }

  /** Maximum number of bytes that one READ may fetch at a time. */
  int mostOfRead() {
    return reads.most();
  }

  /** Assigns doorbells to a ring; 0 if there are none left. */
  int takeShare() {
    return doorbells.takeShare();
  }

  void giveShare(int share) {
    doorbells.giveShare(share);
  }

  // ---- ticks of doorbells

  /** Starts a new tick, to distinguish later doorbells from earlier ones. One thread. */
  public void nextTick() {
    int next = tick + 1;
    tick = next;
  }

  public int tick() {
    return tick;
  }

  // ---- paying for a request

  /**
   * Pays for a request.
   *
   * @param read number of bytes that a READ fetches; else 0
   * @param ofShare whether the ring has a doorbell of its own left
   * @param turn whether the ring has its turn among the waiting ones
   * @return the payment, 0 for a doorbell of the share alone; {@link #REFUSED} when the request
   *     must wait
   */
  int pay(int read, boolean ofShare, boolean turn) {
    if (read != 0 && !takeBytes(read, turn)) {
      return REFUSED;
    }
    int bytes = read != 0 ? OF_READS : 0;
    if (ofShare) {
      return bytes;
    }
    if (doorbells.takeOne()) {
      return bytes | OF_RESERVE;
    }
    if (read != 0) {
      reads.give(read);
    }
    return REFUSED;
  }

  /** Whether a payment, which may have other bits from 4 on, uses a doorbell of the reserve. */
  static boolean isOfReserve(int payment) {
    return (payment & OF_RESERVE) != 0;
  }

  /** The flags of a slot without the payment. */
  static int withoutPayment(int mark) {
    return mark & ~(OF_RESERVE | OF_READS);
  }

  private boolean takeBytes(int bytes, boolean turn) {
    if (turn) {
      boolean taken = reads.take(bytes);
      firstWantsBytes = !taken;
      return taken;
    }
    return !(firstWantsBytes && waitingCount != 0) && reads.take(bytes);
  }

  /** Returns the payment of a request, if there was one. */
  void giveBack(int payment, int read) {
    if ((payment & OF_RESERVE) != 0) {
      doorbells.giveOne();
    }
    if ((payment & OF_READS) != 0) {
      reads.give(read);
    }
  }

  /** Pays for a doorbell without a request; false if there is none left. */
  boolean payOwn() {
    return doorbells.takeOne();
  }

  void giveBackOwn() {
    doorbells.giveOne();
  }

  // ---- those who wait

  /** A ring holds requests back. Callers hold its lock. */
  void holds() {
    onHold.run();
  }

  /** A ring waits for others, and is not in the list. Callers hold its lock. */
  synchronized void await(Waiting ring) {
    waiting.addLast(ring);
    waitingCount = waiting.size();
  }

  /** Whether it is the turn of a ring. */
  @SuppressWarnings("ReferenceEquality") // a ring is itself
  synchronized boolean isFirst(Waiting ring) {
    return waiting.peekFirst() == ring;
  }

  /**
   * A ring in the list has had its turn: it leaves, stays first if it needs READ bytes, or moves to
   * the end. Callers hold its lock.
   */
  @SuppressWarnings("ReferenceEquality") // a ring is itself
  synchronized void endTurn(Waiting ring, boolean waits) {
    if (waits && firstWantsBytes && waiting.peekFirst() == ring) {
      return;
    }
    waiting.remove(ring); // usually the first
    if (waits) {
      waiting.addLast(ring);
    }
    waitingCount = waiting.size();
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
    }
  }

  private void ringAll() {
    for (int left = waitingCount; left > 0; left--) {
      Waiting ring = first();
      if (ring == null) {
        return;
      }
      firstWantsBytes = false;
      ring.ringInTurn();
      if (firstWantsBytes) {
        return;
      }
    }
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
