package org.hghca.model;

import java.util.concurrent.locks.LockSupport;
import org.hghca.vfio.GiveWay;

/**
 * The thread that does the part of a threaded simulation's work that the ringing threads leave: it
 * looks for work for a moment, then sleeps until it is woken or work is due, unless an HCA keeps it
 * awake, and ends when the last HCA is closed.
 *
 * <p>While others do steps it wakes every few milliseconds. So deadlines that they leave behind,
 * such as those of acknowledgements, are kept without a wake for each.
 */
final class SimulationThread implements Runnable {
  /**
   * How often it looks for work, without the lock, before it sleeps: more would cost a core that
   * the driver's threads need.
   */
  private static final int SPINS = GiveWay.looks(200);

  /** How long it sleeps at most while others do steps, in nanoseconds. */
  private static final long TICK = 4_000_000;

  /** So often it wakes without a step of others before it sleeps until work is due. */
  private static final int QUIET_TICKS = 16;

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

  /** Whether there is work that it may not see without the lock. */
  private volatile boolean wanted;

  /** When it wakes by itself; changed under the simulation's lock, by this thread. */
  private long wakesAt;

  /** The steps that had worked when it slept last, and how often it has slept since others did. */
  private long stepsSeen;

  private int quiet;

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
    wanted = true;
    if (asleep) {
      LockSupport.unpark(thread);
    }
  }

  /**
   * Releases the lock, raises the interrupts that became pending under it, and wakes this thread
   * for work that was queued meanwhile: threads that found the lock taken rely on that.
   *
   * @param here whether the calling thread holds no other lock, and may handle the interrupts
   */
  void release(boolean here) {
    lock.unlock();
    if (lock.isHeldHere()) {
      return; // in a step
    }
    participants.deliverInterrupts(here);
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
    boolean hasLooked = false;
    while (true) {
      boolean worked;
      boolean sleeps = false;
      lock.lockForStep();
      try {
        wanted = false;
        worked = participants.step(clock.nanos());
        if (!worked && participants.isEmpty()) {
          thread = null;
          return;
        }
        if (!worked && hasLooked && !participants.keepAwake()) {
          wakesAt = nextTime();
          asleep = true;
          sleeps = true;
        }
      } finally {
        release(true);
      }
      if (sleeps) {
        hasLooked = sleep();
      } else {
        hasLooked = !worked && look();
      }
    }
  }

  private long nextTime() {
    long deadline = participants.nextDeadline();
    quiet = participants.stepsDone() == stepsSeen ? quiet + 1 : 0;
    stepsSeen = participants.stepsDone();
    return quiet < QUIET_TICKS ? Math.min(deadline, clock.nanos() + TICK) : deadline;
  }

  /** Looks for work for a moment; returns whether there was none. */
  private boolean look() {
    for (int i = 0; i < SPINS; i++) {
      if (wanted || participants.hasRegisterWrites()) {
        return false;
      }
      Thread.onSpinWait();
    }
    return true;
  }

  /**
   * Sleeps, unless it was woken since it became {@link #asleep}.
   *
   * @return whether it has woken by itself, to do one step
   */
  private boolean sleep() {
    if (!wanted) {
      if (wakesAt == Long.MAX_VALUE) {
        LockSupport.park(this);
      } else {
        LockSupport.parkNanos(this, wakesAt - System.nanoTime());
      }
    }
    asleep = false;
    return !wanted;
  }
}
