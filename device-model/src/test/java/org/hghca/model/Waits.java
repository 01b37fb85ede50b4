package org.hghca.model;

import java.util.function.BooleanSupplier;

/**
 * How tests of a threaded simulation wait: without sleeping, and without a time-out of their own.
 */
final class Waits {

  private Waits() {}

  static Host.Completion await(Host.Cq cq) {
    await(cq::hasNext);
    return cq.take();
  }

  static void await(BooleanSupplier condition) {
    for (int looks = 0; !condition.getAsBoolean(); looks++) {
      if (looks < 1000) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
    }
  }

  static void join(Thread thread) {
    uninterrupted(thread::join);
  }

  static void uninterrupted(Wait wait) {
    try {
      wait.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** A wait that an interrupt would end. */
  interface Wait {
    void await() throws InterruptedException;
  }
}
