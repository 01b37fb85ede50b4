package org.hghca.cm;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/** Counts the events of an identifier that were taken and not acknowledged. Thread-safe. */
final class Deliveries {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private int unacknowledged;

  synchronized void add() {
    unacknowledged++;
  }

  synchronized void remove() {
    unacknowledged--;
    notifyAll();
  }

  /**
   * Waits until all are acknowledged.
   *
   * @throws VerbsException EBUSY when some are not within 60 s, or the thread is interrupted
   */
  void awaitNone() {
    try {
      int left = awaitNone(LIMIT);
      if (left > 0) {
        throw new VerbsException(
            Errno.EBUSY, "%d events of the identifier are not acknowledged".formatted(left));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new VerbsException(
          Errno.EBUSY, "interrupted while waiting for the acknowledgement of events", e);
    }
  }

  private synchronized int awaitNone(Duration limit) throws InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    long left = limit.toNanos();
    while (unacknowledged > 0 && left > 0) {
      TimeUnit.NANOSECONDS.timedWait(this, left);
      left = end - System.nanoTime();
    }
    return unacknowledged;
  }
}
