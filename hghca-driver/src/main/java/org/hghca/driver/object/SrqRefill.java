package org.hghca.driver.object;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.hghca.driver.card.Card;
import org.hghca.provider.DeviceThread;

/**
 * The thread of a device that distributes requests of shared receive queues to queue pairs while no
 * thread polls. It sleeps while there is no such queue, and runs only if the card itself has none.
 */
final class SrqRefill {
  private static final long PERIOD_NANOS = 1_000_000;

  private final Card card;
  private final Set<Dealt> queues = ConcurrentHashMap.newKeySet();

  /** A shared receive queue whose requests are distributed. */
  interface Dealt {

    /** A period has ended: checks for unpolled receives of the card, and distributes requests. */
    void refill();
  }

  /** Null until there is a queue. */
  private DeviceThread thread;

  private volatile boolean stopping;

  SrqRefill(Card card) {
    this.card = card;
  }

  synchronized void add(Dealt queue) {
    queues.add(queue);
    if (thread == null) {
      thread = new DeviceThread("srq-refill", card.function().locator().name(), this::run);
      thread.start();
    } else {
      thread.unpark();
    }
  }

  void remove(Dealt queue) {
    queues.remove(queue);
  }

  /** Ends the thread; it accesses nothing any more when this returns. */
  synchronized void stop() {
    stopping = true;
    if (thread != null) {
      thread.unpark();
      thread.join();
    }
  }

  private void run() {
    try {
      while (!stopping && !card.health().isDead()) {
        if (queues.isEmpty()) {
          LockSupport.park(this);
        } else {
          queues.forEach(Dealt::refill);
          LockSupport.parkNanos(this, PERIOD_NANOS);
        }
      }
    } catch (Throwable e) { // on any failure, because other threads wait for this thread
      card.threadFailed("the thread that deals shared receives", e);
    }
  }
}
