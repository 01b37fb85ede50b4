package org.hghca.model;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The lock under which the steps of a simulation are done. Under load, steps follow one another
 * without a gap, so a thread that waits for the lock for other work takes precedence over the next
 * step. Reentrant.
 */
final class StepLock {
  /**
   * How long the next step lets waiters go first, in nanoseconds. A waiter that gets no processor
   * (a virtual thread while all carriers are busy) must not stop the simulation.
   */
  private static final long PATIENCE = 10_000_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final AtomicInteger waiting = new AtomicInteger();

  /** Takes it between two steps. */
  void lock() {
    waiting.getAndIncrement();
    try {
      lock.lock();
    } finally {
      waiting.getAndDecrement();
    }
  }

  /**
   * Takes it for a step, after all waiters, including those that arrived while this thread waited.
   */
  void lockForStep() {
    lock.lock();
    if (isWaitedFor()) {
      letPass();
    }
  }

  private void letPass() {
    long deadline = System.nanoTime() + PATIENCE;
    while (isWaitedFor() && System.nanoTime() - deadline < 0) {
      lock.unlock();
      do {
        Thread.yield();
      } while (isWaitedFor() && System.nanoTime() - deadline < 0);
      lock.lock();
    }
  }

  /** Takes it for a step if no thread, including this one, holds it or waits for it. */
  boolean tryLockForStep() {
    return !isHeldHere() && !isWaitedFor() && lock.tryLock();
  }

  boolean isHeldHere() {
    return lock.isHeldByCurrentThread();
  }

  /** Whether a thread waits to run between two steps. */
  boolean isWaitedFor() {
    return waiting.get() != 0;
  }

  void unlock() {
    lock.unlock();
  }
}
