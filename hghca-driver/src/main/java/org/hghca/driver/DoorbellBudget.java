package org.hghca.driver;

import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many doorbells may be in flight on a device: rung, and the completion of what they told of
 * not seen. The makers' RTL keeps 64 and drops what comes beyond.
 *
 * <p>Most are given to rings as shares of their own, which cost no atomic instruction, as long as
 * they last; the rest is a reserve for all. A ring that gets none holds its doorbells back, and
 * stands in a list here until some are seen. Thread-safe.
 */
final class DoorbellBudget {
  private static final int SHARE = 8;
  private static final int RESERVE = 16;

  private final AtomicInteger reserve;
  private final ArrayDeque<SendRing> holding = new ArrayDeque<>();
  private int shares;

  /** How many stand in the list. */
  private volatile int held;

  /**
   * A budget.
   *
   * @param doorbells how many may be in flight
   */
  DoorbellBudget(int doorbells) {
    reserve = new AtomicInteger(Math.min(RESERVE, doorbells));
    shares = doorbells - reserve.get();
  }

  /** Gives a ring a share of its own; 0 when there is none left. */
  synchronized int takeShare() {
    int share = Math.min(SHARE, shares);
    shares -= share;
    return share;
  }

  synchronized void giveShare(int share) {
    shares += share;
  }

  /** Takes one from the reserve; false when it is empty. */
  boolean takeOne() {
    for (int left = reserve.get(); left > 0; left = reserve.get()) {
      if (reserve.compareAndSet(left, left - 1)) {
        return true;
      }
    }
    return false;
  }

  /** Gives one back to the reserve. */
  void giveOne() {
    reserve.getAndIncrement();
  }

  /** A ring holds doorbells back, and is not in the list. Callers hold its lock. */
  synchronized void hold(SendRing ring) {
    holding.addLast(ring);
    held = holding.size();
  }

  /**
   * A ring in the list has had its turn: it goes behind the others, or leaves. Callers hold its
   * lock.
   */
  synchronized void endTurn(SendRing ring, boolean holds) {
    holding.remove(ring); // usually the first
    if (holds) {
      holding.addLast(ring);
    }
    held = holding.size();
  }

  /**
   * Rings what was held back, as far as doorbells may be rung now, those included that the caller
   * has just given back. Callers hold no lock of a ring or a completion queue.
   */
  void ringHeld() {
    // Who gets none and goes into the list before we look there finds what we have given back.
    VarHandle.fullFence();
    if (held != 0) {
      ringAll();
    }
  }

  private void ringAll() {
    for (int left = held; left > 0; left--) {
      SendRing ring = first();
      if (ring == null) {
        return;
      }
      ring.ringHeld();
    }
  }

  /**
   * The ring whose turn it is. It stays in the list until it has had its turn: whoever comes
   * meanwhile waits for that, and does not pass it over.
   */
  private synchronized SendRing first() {
    return holding.peekFirst();
  }

  /** How many rings hold doorbells back. */
  int held() {
    return held;
  }
}
