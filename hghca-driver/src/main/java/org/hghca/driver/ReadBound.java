package org.hghca.driver;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many bytes READs may fetch at a time, over the whole device: a peer that has to answer more
 * while it sends itself can stop. Thread-safe.
 */
final class ReadBound {
  private final int most;
  private final AtomicInteger underWay = new AtomicInteger();

  ReadBound(int most) {
    this.most = most;
  }

  /** How many bytes may be fetched at a time. */
  int most() {
    return most;
  }

  /**
   * Adds a READ to those in flight; false when it has to wait.
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
