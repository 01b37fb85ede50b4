package org.hghca.driver;

import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import org.hghca.abi.HardwareProfile;

/**
 * Which requests may be rung for now, on a card that loses, or stops at, more than it can keep. It
 * bounds three things: the outstanding requests of one queue pair, the doorbells of all, and what
 * READs fetch at a time. {@link DoorbellScheduler} is where it is asked.
 *
 * <p>A ring that waits for what others have is in a list here until it has had its turn.
 * Thread-safe.
 */
final class InFlightLimits {
  /** A payment: none, so that the request has to wait. */
  static final int NONE = 0;

  private static final int OF_SHARE = 1;
  private static final int OF_RESERVE = 2;

  private final int window;
  private final DoorbellBudget doorbells;
  private final ReadBound reads;
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();

  /** How many are in the list. */
  private volatile int waitingCount;

  /** Whether the first of them has a READ that is too long to go now: no other passes it. */
  private volatile boolean firstWantsBytes;

  /** A ring that waits for what others have. */
  interface Waiting {

    /** Rings for requests that were held back, as it is the turn of this ring. */
    void ringInTurn();
  }

  private Runnable onHold = () -> {};
  private volatile int tick;

  /**
   * What a card allows.
   *
   * @param window how many requests of one queue pair may be outstanding
   */
  InFlightLimits(HardwareProfile profile, int window) {
    this.window = window;
    this.doorbells = new DoorbellBudget(profile.doorbellsInFlight(), window);
    this.reads = new ReadBound(profile.readBytesInFlight());
  }

  /** Has something done whenever a request is held back. Before the first is. */
  void onHold(Runnable action) {
    onHold = action;
  }

  /** How many requests of one queue pair may be outstanding. */
  int window() {
    return window;
  }

  /** How many bytes one READ may fetch at a time. */
  int mostOfRead() {
    return reads.most();
  }

  /** Gives a ring doorbells of its own; 0 when there are none left. */
  int takeShare() {
    return doorbells.takeShare();
  }

  void giveShare(int share) {
    doorbells.giveShare(share);
  }

  // ---- time, in which doorbells are rung

  /** Counts what was rung from now on apart from what was rung before. One thread. */
  void nextTick() {
    int next = tick + 1;
    tick = next;
  }

  int tick() {
    return tick;
  }

  // ---- paying for a request

  /**
   * Pays for a request.
   *
   * @param read how many bytes it fetches, if it is a READ; else 0
   * @param ofShare whether the ring has a doorbell of its own left
   * @param turn whether it is the turn of the ring, of all that wait
   * @return the payment, {@link #NONE} when the request has to wait
   */
  int pay(int read, boolean ofShare, boolean turn) {
    if (read != 0 && !takeBytes(read, turn)) {
      return NONE;
    }
    if (ofShare) {
      return OF_SHARE;
    }
    if (doorbells.takeOne()) {
      return OF_RESERVE;
    }
    if (read != 0) {
      reads.give(read);
    }
    return NONE;
  }

  /** Whether a payment, which may have other bits from 4 on, is with a doorbell of the ring. */
  static boolean isOfShare(int payment) {
    return (payment & OF_SHARE) != 0;
  }

  /** A mark of a slot without the payment in it. */
  static int withoutPayment(int mark) {
    return mark & ~(OF_SHARE | OF_RESERVE);
  }

  private boolean takeBytes(int bytes, boolean turn) {
    if (turn) {
      boolean taken = reads.take(bytes);
      firstWantsBytes = !taken;
      return taken;
    }
    return !(firstWantsBytes && waitingCount != 0) && reads.take(bytes);
  }

  /** Gives back what was paid for a request, if anything was. */
  void giveBack(int payment, int read) {
    if ((payment & OF_RESERVE) != 0) {
      doorbells.giveOne();
    }
    if (read != 0 && (payment & (OF_SHARE | OF_RESERVE)) != 0) {
      reads.give(read);
    }
  }

  /** Pays for a doorbell that is of no request; false when there is none left. */
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

  /** A ring waits for what others have, and is not in the list. Callers hold its lock. */
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
   * A ring in the list has had its turn: it leaves, stays first when it wants bytes, or goes behind
   * the others. Callers hold its lock.
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
   * Rings what waits, as far as it may be rung now, with what the caller has just given back too.
   * Callers hold no lock of a ring or a completion queue.
   */
  void ringWaiting() {
    // A ring that has to wait and enters the list before we look there finds what we have given
    // back.
    VarHandle.fullFence();
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
   * The ring whose turn it is. It stays in the list until it has had its turn: a thread that comes
   * meanwhile waits for that, and does not skip it.
   */
  private synchronized Waiting first() {
    return waiting.peekFirst();
  }

  /** How many rings wait for what others have. */
  int waiting() {
    return waitingCount;
  }
}
