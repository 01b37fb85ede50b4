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

  private final HghcaDevice device;
  private final Set<SoftwareSrq> queues = ConcurrentHashMap.newKeySet();

  /** Null until there is a queue. */
  private DeviceThread thread;

  private volatile boolean stopping;

  SrqRefill(HghcaDevice device) {
    this.device = device;
  }

  synchronized void add(SoftwareSrq queue) {
    queues.add(queue);
    if (thread == null) {
      thread = new DeviceThread("srq-refill", device.card().function().locator().name(), this::run);
      thread.start();
    } else {
      thread.unpark();
    }
  }

  void remove(SoftwareSrq queue) {
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
      while (!stopping && !device.card().health().isDead()) {
        if (queues.isEmpty()) {
          LockSupport.park(this);
        } else {
          queues.forEach(SoftwareSrq::refill);
          LockSupport.parkNanos(this, PERIOD_NANOS);
        }
      }
    } catch (Throwable e) { // whatever it is, somebody waits for what this thread does
      device.card().threadFailed("the thread that deals shared receives", e);
    }
  }
}
