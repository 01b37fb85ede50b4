package org.hghca.driver;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.hghca.provider.DeviceThread;

/**
 * The thread of a device that deals requests of shared receive queues to queue pairs while nobody
 * polls. It sleeps while there is no such queue, and runs only where the card has none itself.
 */
final class SrqRefill {
  private static final long PERIOD_NANOS = 1_000_000;

  private final Card card;
  private final Set<Dealt> queues = ConcurrentHashMap.newKeySet();

  /** A shared receive queue whose requests are dealt. */
  interface Dealt {

    /** A period has ended: looks what the card has taken that nobody has polled, and deals. */
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

  /** Ends the thread; it touches nothing any more when this returns. */
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
    } catch (Throwable e) { // whatever it is, somebody waits for what this thread does
      card.threadFailed("the thread that deals shared receives", e);
    }
  }
}
