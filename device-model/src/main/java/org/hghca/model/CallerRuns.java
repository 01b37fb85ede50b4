package org.hghca.model;

import org.hghca.model.hca.StepBudget;

/**
 * The thread that rings the doorbell does the work: what a thread that writes a register of a
 * threaded simulation does of what follows from that. It does a little, at once, where waking
 * another thread would take longer than the work; the {@link SimulationThread} does the rest.
 *
 * <p>It never waits, since a driver rings under locks that spin: neither for the simulation's lock
 * (the holder looks at what was queued when it releases the lock), nor for memory of another
 * process.
 */
final class CallerRuns {
  /**
   * Steps for one write, of each card that it leads to. Together with {@link #MOST} they are some
   * 20 us of work, which is counted and not timed: what a busy processor adds is no reason to stop.
   */
  private static final int STEPS = 8;

  /**
   * What a card takes, receives and sends in a step: short ones, since others may want the lock.
   */
  private static final int MOST = 8;

  /** Payload for one write; what acknowledges it comes on top. */
  private static final long BYTES = 64 * 1024;

  private static final StepBudget AFTER_DOORBELL = new StepBudget(MOST, false);

  /**
   * Nobody gives commands under a lock that spins, and a thread that gives one waits for its end.
   */
  private static final StepBudget AFTER_COMMAND = new StepBudget(MOST, true);

  private final Simulation simulation;
  private final SimulationThread loop;

  CallerRuns(Simulation simulation, SimulationThread loop) {
    this.simulation = simulation;
    this.loop = loop;
  }

  /**
   * Something was queued for an HCA before this call: some of it is done now, all of it soon.
   *
   * @param command whether it may have been a command
   */
  void ring(SoftwareHca hca, boolean command) {
    if (mustNotStep(hca)) {
      loop.wake();
      return;
    }
    StepLock lock = simulation.lock();
    if (!lock.tryLockForStep()) {
      return; // the holder of the lock, or this thread itself in a step, will look
    }
    boolean left;
    try {
      left =
          work(hca, command ? AFTER_COMMAND : AFTER_DOORBELL)
              || simulation.hasArrived()
              || loop.oversleeps(simulation.nextDeadline());
    } finally {
      simulation.release();
    }
    if (left) {
      loop.wake();
    }
  }

  /**
   * Memory of another process may have to be waited for. A virtual thread that must wait for a
   * monitor in a step would give its carrier away and keep the simulation's lock; those that spin
   * on all carriers until the step is done would never give it back.
   */
  private static boolean mustNotStep(SoftwareHca hca) {
    return hca.mayWait() || Thread.currentThread().isVirtual();
  }

  /** Does steps until nothing is left to do, or it has been enough; returns whether it has. */
  private boolean work(SoftwareHca hca, StepBudget budget) {
    long bytes = simulation.bytesSent();
    int steps = 0;
    while (simulation.stepNear(hca, simulation.nanos(), budget)) {
      if (++steps == STEPS
          || simulation.bytesSent() - bytes > BYTES
          || simulation.lock().isWaitedFor()) {
        return true;
      }
    }
    return false;
  }
}
