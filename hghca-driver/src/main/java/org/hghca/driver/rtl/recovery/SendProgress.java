package org.hghca.driver.rtl.recovery;

import org.hghca.driver.completion.QueuePairRings;
import org.hghca.driver.rtl.ring.DoorbellQuota;
import org.hghca.driver.rtl.ring.QuotaSendRing;

/**
 * Whether the card completes the sends of one queue pair, from check to check. Under the queue
 * pair's monitor.
 */
final class SendProgress {
  /** Number of checks without progress after which the queue pair is regarded as stuck. */
  private static final int LOOKS = 2;

  private final QuotaSendRing sends;
  private final QueuePairWork work;
  private boolean busy;
  private int completed;
  private int looks;

  /** When its oldest send was rung, in ticks of {@link DoorbellQuota}. */
  private int oldestTick;

  SendProgress(QueuePairRings rings, QueuePairWork work) {
    this.sends = QuotaSendRing.of(rings);
    this.work = work;
  }

  /** Sends begin. */
  void begin() {
    busy = false;
    completed = 0;
  }

  /** The card has no sends to complete. */
  void end() {
    busy = false;
  }

  /**
   * Checks; returns whether the card has sends to complete and has completed none since the last
   * check.
   */
  boolean isStuck() {
    OutstandingWork now = work.ofSends();
    boolean was = busy && now.sent() == completed;
    busy = now.unfinished() > 0;
    completed = now.sent();
    oldestTick = sends.tick(now.sends());
    looks = was && busy ? looks + 1 : 0;
    return looks > 0;
  }

  /** Whether it was found stuck often enough. */
  boolean isSurelyStuck() {
    return looks >= LOOKS;
  }

  /** Whether the card had sends to complete at the last check. */
  boolean isBusy() {
    return busy;
  }

  /** Grows with each completion of the card. */
  int completed() {
    return completed;
  }

  /** When its oldest send was rung, in ticks of {@link DoorbellQuota}. */
  int oldestTick() {
    return oldestTick;
  }
}
