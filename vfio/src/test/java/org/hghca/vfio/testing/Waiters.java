package org.hghca.vfio.testing;

import java.util.Collection;

/** Threads that must wait for something before a test continues. */
public final class Waiters {

  private Waiters() {}

  /**
   * Returns when each thread waits: for a monitor, for a lock, for a condition.
   *
   * @throws AssertionError when one has ended
   */
  public static void await(Collection<Thread> threads) {
    for (Thread thread : threads) {
      while (!waits(thread.getState())) {
        if (thread.getState() == Thread.State.TERMINATED) {
          throw new AssertionError(thread + " has ended and did not wait");
        }
        Thread.onSpinWait();
      }
    }
  }

  private static boolean waits(Thread.State state) {
    return state == Thread.State.BLOCKED
        || state == Thread.State.WAITING
        || state == Thread.State.TIMED_WAITING;
  }
}
