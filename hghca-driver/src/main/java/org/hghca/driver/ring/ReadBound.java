package org.hghca.driver.ring;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The limit of bytes that READs may fetch at a time, over the whole device: a peer that must answer
 * more while it sends itself can stop. Thread-safe.
 */
final class ReadBound {
  private final int most;
  private final AtomicInteger underWay = new AtomicInteger();

  ReadBound(int most) {
    this.most = most;
  }

  /** Maximum number of bytes per fetch. */
  int most() {
    return most;
  }

  /**
   * Adds a READ to those in flight; false if it must wait.
   *
   * @param bytes at most {@link #most}
   */
  boolean take(int bytes) {
    for (int now = underWay.get(); bytes <= most - now; now = underWay.get()) {
      if (underWay.compareAndSet(now, now + bytes)) {
        return true;
      }
    }
    return false;
  }

  /** A READ that was added is complete. */
  void give(int bytes) {
    underWay.addAndGet(-bytes);
  }
}
