package org.hghca.driver;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many doorbells may be in flight on a device: rung, and the completion of their requests not
 * seen. The makers' RTL keeps 64 and drops what comes beyond.
 *
 * <p>Most are given to rings as shares of their own, which cost no atomic instruction, as long as
 * they last; the rest is a reserve for all. Thread-safe.
 */
final class DoorbellBudget {
  private static final int SHARE = 8;
  private static final int RESERVE = 16;

  private final int share;
  private final AtomicInteger reserve;
  private int shares;

  /**
   * A budget.
   *
   * @param doorbells how many may be in flight
   * @param window how many of one ring at most
   */
  DoorbellBudget(int doorbells, int window) {
    share = Math.min(SHARE, window);
    reserve = new AtomicInteger(Math.min(RESERVE, doorbells));
    shares = doorbells - reserve.get();
  }

  /** Gives a ring a share of its own; 0 when there is none left. */
  synchronized int takeShare() {
    int taken = Math.min(share, shares);
    shares -= taken;
    return taken;
  }

  synchronized void giveShare(int taken) {
    shares += taken;
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
}
