package org.hghca.cm;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Counts the events of an identifier that were taken and not acknowledged. Thread-safe. */
final class Deliveries {
  private int unacknowledged;

  synchronized void add() {
    unacknowledged++;
  }

  synchronized void remove() {
    unacknowledged--;
    notifyAll();
  }

  /** Waits until all are acknowledged; returns how many are not after the time limit. */
  synchronized int awaitNone(Duration limit) throws InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    long left = limit.toNanos();
    while (unacknowledged > 0 && left > 0) {
      TimeUnit.NANOSECONDS.timedWait(this, left);
      left = end - System.nanoTime();
    }
    return unacknowledged;
  }
}
