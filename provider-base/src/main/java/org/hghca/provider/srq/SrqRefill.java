package org.hghca.provider.srq;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.hghca.provider.DeviceThread;
import org.hghca.provider.Health;

/**
 * The thread of a device that distributes requests of shared receive queues to queue pairs while no
 * thread polls. It sleeps while there is no such queue, and runs only if the device itself has
 * none.
 */
public final class SrqRefill {
  private static final long PERIOD_NANOS = 1_000_000;

  private final String device;
  private final Health health;
  private final Consumer<Throwable> onFailure;
  private final Set<Dealt> queues = ConcurrentHashMap.newKeySet();

  /** A shared receive queue whose requests are distributed. */
  interface Dealt {

    /** A period has ended: checks for unpolled receives of the device, and distributes requests. */
    void refill();
  }

  /** Null until there is a queue. */
  private DeviceThread thread;

  private volatile boolean stopping;

  /**
   * A thread that is not started.
   *
   * @param device its name in the thread's
   * @param onFailure declares the device dead: the thread cannot continue
   */
  public SrqRefill(String device, Health health, Consumer<Throwable> onFailure) {
    this.device = device;
    this.health = health;
    this.onFailure = onFailure;
  }

  synchronized void add(Dealt queue) {
    queues.add(queue);
    if (thread == null) {
      thread = new DeviceThread("srq-refill", device, this::run);
      thread.start();
    } else {
      thread.unpark();
    }
  }

  void remove(Dealt queue) {
    queues.remove(queue);
  }

  /** Ends the thread; it accesses nothing any more when this returns. */
  public synchronized void stop() {
    stopping = true;
    if (thread != null) {
      thread.unpark();
      thread.join();
    }
  }

  private void run() {
    try {
      while (!stopping && !health.isDead()) {
        if (queues.isEmpty()) {
          LockSupport.park(this);
        } else {
          queues.forEach(Dealt::refill);
          LockSupport.parkNanos(this, PERIOD_NANOS);
        }
      }
    } catch (Throwable e) { // on any failure, because other threads wait for this thread
      onFailure.accept(e);
    }
  }
}
