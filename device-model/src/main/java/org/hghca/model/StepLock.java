package org.hghca.model;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The lock under which the steps of a simulation are done. Steps follow one another without end
 * where there is much to do: so a thread that waits for the lock to do something else comes before
 * the next step. Reentrant.
 */
final class StepLock {
  /**
   * How long the next step waits for those who wait, in nanoseconds. One that gets no processor (a
   * virtual thread, while others keep all carriers busy) must not stop the simulation.
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

  /** Takes it for a step, behind those who wait, also those who came while this thread waited. */
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

  /** Takes it for a step if nobody has it, this thread included, and nobody waits for it. */
  boolean tryLockForStep() {
    return !isHeldHere() && !isWaitedFor() && lock.tryLock();
  }

  boolean isHeldHere() {
    return lock.isHeldByCurrentThread();
  }

  /** Whether somebody waits to come between two steps. */
  boolean isWaitedFor() {
    return waiting.get() != 0;
  }

  void unlock() {
    lock.unlock();
  }
}
