package org.hghca.driver;

import java.util.ArrayList;
import java.util.List;
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

  private static final int SEVERAL = 2;

  private final HghcaDevice device;
  private final DeviceThread thread;
  private volatile boolean stopping;

  /** What is to be told of time-outs that this look has found. */
  private final List<String> timeOuts = new ArrayList<>();

  /** Whether the card has completed a send since the look before. */
  private boolean moved;

  /** How many time-outs of no known cause there were since the card has completed a send. */
  private int unexplained;

  /** Whether it was said that the card may be dead, and it has completed nothing since. */
  private boolean told;

  Sweep(HghcaDevice device) {
    this.device = device;
    this.thread = new DeviceThread("sweep", device, this::run);
  }

  void start() {
    thread.start();
  }

  /** Ends the thread; it touches nothing any more when this returns. */
  void stop() {
    stopping = true;
    wake();
    thread.join();
  }

  /** There may be something to look at. Under any lock. */
  void wake() {
    thread.unpark();
  }

  private void run() {
    try {
      while (!stopping && !device.health().isDead()) {
        Need need = look(device.time().nanoTime());
        switch (need) {
          case NONE -> LockSupport.park(this);
          case SELDOM -> device.time().parkNanos(this, IDLE_PERIOD_NANOS);
          case OFTEN -> device.time().parkNanos(this, PERIOD_NANOS);
        }
      }
    } catch (Throwable e) { // whatever it is, somebody waits for what this thread does
      device.threadFailed("the thread that looks after its sends", e);
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
   * @param now nanoseconds of a clock of the card's time
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
    tell();
    return most[0];
  }

  /** A send of some queue pair is complete. Called while looking. */
  void moved() {
    moved = true;
  }

  /**
   * A queue pair's sends have ended in a time-out. Called while looking.
   *
   * @param nanos how long nothing was completed
   * @param refused whether the peer has no receive
   */
  void timedOut(HghcaQueuePair qp, long nanos, boolean refused) {
    unexplained += refused ? 0 : 1;
    timeOuts.add(
        "%s after %d ms%s"
            .formatted(
                qp.describe(), nanos / 1_000_000, refused ? ", its peer has no receive" : ""));
  }

  /** One line, however many there are: when the card is dead, all of them are. */
  private void tell() {
    if (moved) {
      unexplained = 0;
      told = false;
      moved = false;
    }
    if (timeOuts.isEmpty()) {
      return;
    }
    String found = String.join("; ", timeOuts);
    timeOuts.clear();
    if (unexplained < SEVERAL) {
      LOG.warn(
          "the driver takes it for a time-out that nothing was completed: {}; the card still takes"
              + " commands",
          found);
    } else if (!told) {
      told = true;
      LOG.warn(
          "nothing is completed any more, for any queue pair: {}; the card still takes commands,"
              + " but its data path may be dead, and only a reset cures that: close all contexts"
              + " of {} and open it again",
          found,
          device.function().locator());
    }
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
