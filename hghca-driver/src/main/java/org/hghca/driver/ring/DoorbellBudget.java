package org.hghca.driver.ring;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The limit of doorbells in flight on a device: rung, without a polled completion of their
 * requests. The makers' RTL queues 64 and drops further ones.
 *
 * <p>Most are assigned to rings as fixed shares, which need no atomic instruction, as long as there
 * are any; the rest is a reserve for all rings. Thread-safe.
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
   * @param doorbells maximum in flight
   * @param window maximum of one ring
   */
  DoorbellBudget(int doorbells, int window) {
    share = Math.min(SHARE, window);
    reserve = new AtomicInteger(Math.min(RESERVE, doorbells));
    shares = doorbells - reserve.get();
  }

  /** Assigns a share to a ring; 0 if there is none left. */
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

  /** Returns one to the reserve. */
  void giveOne() {
    reserve.getAndIncrement();
  }
}
