package org.hghca.model;

import java.util.concurrent.locks.LockSupport;

/**
 * The thread that does the part of a threaded simulation's work that the ringing threads leave: it
 * polls for work a few times, then sleeps until it is woken or work is due, unless an HCA keeps it
 * awake, and ends when the last HCA is closed.
 */
final class SimulationThread implements Runnable {
  /** Idle passes before it sleeps: more would cost a core that the driver's threads need. */
  private static final int SPINS = 200;

  private final StepLock lock;
  private final Clock clock;
  private final Participants participants;
  private volatile Thread thread;

  /**
   * Whether it sleeps or is about to. Set under the simulation's lock in a step without work, so
   * that a thread that takes the lock later, or that has queued work and finds it taken, knows that
   * it must wake this thread.
   */
  private volatile boolean asleep;

  /** When it wakes by itself; changed under the simulation's lock, by this thread. */
  private long wakesAt;

  SimulationThread(StepLock lock, Clock clock, Participants participants) {
    this.lock = lock;
    this.clock = clock;
    this.participants = participants;
  }

  /** Makes sure that the thread runs. Under the simulation's lock. */
  void start() {
    if (thread == null) {
      thread = Thread.ofPlatform().daemon().name("hghca-model").unstarted(this);
      thread.start();
    }
  }

  /** Work was queued before this call: it will be done. */
  void wake() {
    if (asleep) {
      LockSupport.unpark(thread);
    }
  }

  /**
   * Releases the lock, raises the interrupts that became pending under it, and wakes this thread
   * for work that was queued meanwhile: threads that found the lock taken rely on that.
   */
  void release() {
    lock.unlock();
    if (lock.isHeldHere()) {
      return; // in a step
    }
    participants.deliverInterrupts();
    if (participants.hasRegisterWrites()) {
      wake();
    }
  }

  /** Whether it would wake too late for a deadline. Under the simulation's lock. */
  boolean oversleeps(long deadline) {
    return deadline < wakesAt;
  }

  @Override
  public void run() {
    int idle = 0;
    while (true) {
      lock.lockForStep();
      try {
        boolean worked = participants.step(clock.nanos());
        if (!worked && participants.isEmpty()) {
          thread = null;
          return;
        }
        idle = worked ? 0 : idle + 1;
        if (idle == SPINS && participants.keepAwake()) {
          idle = 0;
        }
        if (idle == SPINS) {
          wakesAt = participants.nextDeadline();
          asleep = true;
        }
      } finally {
        release();
      }
      if (idle == SPINS) {
        sleep();
        idle = 0;
      } else {
        Thread.onSpinWait();
      }
    }
  }

  /** Sleeps, unless it was woken since it became {@link #asleep}. */
  private void sleep() {
    if (wakesAt == Long.MAX_VALUE) {
      LockSupport.park(this);
    } else {
      LockSupport.parkNanos(this, wakesAt - System.nanoTime());
    }
    asleep = false;
  }
}
