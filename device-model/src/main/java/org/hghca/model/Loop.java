package org.hghca.model;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The thread that drives a threaded simulation: it looks for work some hundred times, then sleeps
 * until a register is written or a time comes, and ends when the last HCA is gone.
 */
final class Loop implements Runnable {
  /** Idle passes before it sleeps: more would cost a core that the driver's threads need. */
  private static final int SPINS = 200;

  private final Simulation simulation;
  private final AtomicInteger waiting = new AtomicInteger();
  private volatile Thread thread;
  private volatile boolean asleep;

  /** Set when something was changed between two steps that no register write tells of. */
  private volatile boolean kicked;

  Loop(Simulation simulation) {
    this.simulation = simulation;
  }

  /** Makes sure that the thread runs. Under the simulation's lock. */
  void start() {
    if (thread == null) {
      thread = Thread.ofPlatform().daemon().name("hghca-model").unstarted(this);
      thread.start();
    }
  }

  /** Something was queued before this call: it will be seen. */
  void wake() {
    // Pairs with the write of asleep before the last look: one of the two sees the other's store.
    VarHandle.fullFence();
    if (asleep) {
      LockSupport.unpark(thread);
    }
  }

  /** Something that no register write tells of was changed before this call: it will be seen. */
  void kick() {
    kicked = true;
    wake();
  }

  /** Takes the simulation's lock without having to race the thread for it. */
  void lock(ReentrantLock lock) {
    waiting.incrementAndGet();
    try {
      lock.lock();
    } finally {
      waiting.decrementAndGet();
    }
  }

  @Override
  public void run() {
    int idle = 0;
    while (true) {
      while (waiting.get() != 0) {
        Thread.yield();
      }
      boolean worked;
      long deadline = 0;
      simulation.lock().lock();
      try {
        worked = simulation.step();
        if (!worked && idle == SPINS - 1) {
          deadline = simulation.nextDeadline();
        }
        if (!worked && simulation.isEmpty()) {
          thread = null;
          return;
        }
      } finally {
        simulation.lock().unlock();
      }
      if (worked) {
        idle = 0;
      } else if (++idle < SPINS) {
        Thread.onSpinWait();
      } else {
        idle = 0;
        sleep(deadline);
      }
    }
  }

  private void sleep(long deadline) {
    asleep = true;
    try {
      if (!kicked
          && !simulation.hasRegisterWrites()
          && waiting.get() == 0
          && !simulation.isEmpty()) {
        if (deadline == Long.MAX_VALUE) {
          LockSupport.park(this);
        } else {
          LockSupport.parkNanos(this, deadline - System.nanoTime());
        }
      }
    } finally {
      asleep = false;
      kicked = false; // the step that follows sees it
    }
  }
}
