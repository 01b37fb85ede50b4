package org.hghca.driver;

/**
 * Whether the card completes what it was given of one queue pair, from look to look. Under the
 * queue pair's monitor.
 */
final class SendProgress {
  /** Looks that must find no progress before it is believed that there is none. */
  private static final int LOOKS = 2;

  private final RecoveredQueuePair qp;
  private final BudgetedSendRing sends;
  private boolean busy;
  private int completed;
  private int looks;

  /** When its oldest send was rung, in ticks of {@link InFlightLimits}. */
  private int oldestTick;

  SendProgress(RecoveredQueuePair qp) {
    this.qp = qp;
    this.sends = qp.rings().budgetedSends();
  }

  /** Sends begin. */
  void begin() {
    busy = false;
    completed = 0;
  }

  /** The card has nothing to complete that anybody waits for. */
  void end() {
    busy = false;
  }

  /** Looks; returns whether the card has sends to complete and has completed none since. */
  boolean isStuck() {
    OutstandingWork work = qp.sendCompletionQueue().outstandingWork(qp.rings());
    boolean was = busy && work.sent() == completed;
    busy = work.unfinished() > 0;
    completed = work.sent();
    oldestTick = sends.tick(work.sends());
    looks = was && busy ? looks + 1 : 0;
    return looks > 0;
  }

  /** Whether it was found stuck so often that this is believed. */
  boolean isSurelyStuck() {
    return looks >= LOOKS;
  }

  /** Whether the card had sends to complete at the last look. */
  boolean isBusy() {
    return busy;
  }

  /** Grows with what the card has completed. */
  int completed() {
    return completed;
  }

  /** When its oldest send was rung, in ticks of {@link InFlightLimits}. */
  int oldestTick() {
    return oldestTick;
  }
}
