package org.hghca.driver;

import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread of a device whose card neither times out nor flushes: it looks from time to time
 * whether sends move on. It sleeps while no queue pair could have any; otherwise it looks often
 * while some are under way. Not started on a card that needs none.
 */
final class Sweep {
  private static final Logger LOG = LoggerFactory.getLogger(Sweep.class);
  private static final long PERIOD_NANOS = 10_000_000;
  private static final long IDLE_PERIOD_NANOS = 100_000_000;

  private final HghcaDevice device;
  private final Thread thread;
  private volatile boolean stopping;

  Sweep(HghcaDevice device) {
    this.device = device;
    this.thread =
        Thread.ofPlatform()
            .daemon()
            .name("hghca-sweep-" + device.function().locator().name())
            .unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  /** Ends the thread; it touches nothing any more when this returns. */
  void stop() {
    stopping = true;
    wake();
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** There may be something to look at. Under any lock. */
  void wake() {
    LockSupport.unpark(thread);
  }

  private void run() {
    try {
      while (!stopping && !device.health().isDead()) {
        Need need = look(System.nanoTime());
        switch (need) {
          case NONE -> LockSupport.park(this);
          case SELDOM -> LockSupport.parkNanos(this, IDLE_PERIOD_NANOS);
          case OFTEN -> LockSupport.parkNanos(this, PERIOD_NANOS);
        }
      }
    } catch (Throwable e) { // whatever it is, somebody waits for what this thread does
      device.health().fail("the thread that looks after its sends has failed: " + e);
    }
  }

  /** How soon to look again. */
  enum Need {
    NONE,
    SELDOM,
    OFTEN
  }

  /**
   * Looks at all queue pairs.
   *
   * @param now nanoseconds of a clock that goes on evenly
   */
  Need look(long now) {
    DoorbellBudget doorbells = device.doorbells();
    if (doorbells.held() != 0) {
      device.completionQueues().forEach(HghcaCompletionQueue::giveBackDoorbells);
      doorbells.ringHeld();
    }
    Need[] most = {doorbells.held() != 0 ? Need.OFTEN : Need.NONE};
    device
        .queuePairs()
        .forEach(
            qp -> {
              Need need = look(qp, now);
              most[0] = need.compareTo(most[0]) > 0 ? need : most[0];
            });
    return most[0];
  }

  private Need look(HghcaQueuePair qp, long now) {
    try {
      return qp.look(now);
    } catch (RuntimeException e) {
      if (!device.health().isDead()) {
        LOG.warn("{}: {}", qp.describe(), e.getMessage());
      }
      return Need.SELDOM;
    }
  }
}
