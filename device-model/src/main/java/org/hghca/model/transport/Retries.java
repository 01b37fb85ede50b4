package org.hghca.model.transport;

/**
 * How often a requester may still repeat what is not acknowledged.
 *
 * <p>Where the medium loses packets and {@code retry_cnt} is 7, a peer is given up for its silence
 * alone: a time-out in which something valid came from it does not count, and the last one does
 * only after {@link #SILENCE}. A machine with more to do than it can may be late by many time-outs.
 */
final class Retries {
  /** The {@code retry_cnt} that a peer which is there does not use up. */
  private static final int PATIENT = 7;

  /** The {@code rnr_retry} that is without end. */
  private static final int FOR_EVER = 7;

  /** So long a peer is silent at least before a patient requester gives up, in nanoseconds. */
  static final long SILENCE = 2_000_000_000;

  private final Schedule schedule;
  private final Endpoint endpoint;
  private final SendWindow window;
  private final boolean losesPackets;
  private int left;
  private int rnrLeft;

  /** Since when the peer has said nothing. */
  private long silentSince;

  /**
   * @param losesPackets whether the medium does
   */
  Retries(Schedule schedule, Endpoint endpoint, SendWindow window, boolean losesPackets) {
    this.schedule = schedule;
    this.endpoint = endpoint;
    this.window = window;
    this.losesPackets = losesPackets;
  }

  /** Something is sent after all was acknowledged, or is acknowledged. */
  void renew(ConnectionContext qp) {
    restart(qp);
    rnrLeft = qp.rnrRetry;
  }

  /** The peer is there, or another path is used to it. */
  void restart(ConnectionContext qp) {
    left = qp.retryCount;
    silentSince = schedule.now();
  }

  /** Waits for receives of the peer once more; returns whether it may. */
  boolean waitForReceiver(ConnectionContext qp) {
    if (rnrLeft == 0) {
      return false;
    }
    rnrLeft -= qp.rnrRetry == FOR_EVER ? 0 : 1;
    restart(qp);
    return true;
  }

  /** Repeats what the peer says that it misses; returns whether it may. */
  boolean repeatMissing(ConnectionContext qp) {
    return isPatient(qp) || take();
  }

  /** Repeats after a time-out; returns whether it may. */
  boolean repeatUnanswered(ConnectionContext qp) {
    if (!isPatient(qp)) {
      return take();
    }
    long heard = Math.max(endpoint.heardAt, window.load().heardAt());
    if (heard > silentSince) {
      left = qp.retryCount;
      silentSince = heard;
      return true;
    }
    return take() || schedule.now() - silentSince < SILENCE;
  }

  private boolean isPatient(ConnectionContext qp) {
    return losesPackets && qp.retryCount == PATIENT;
  }

  private boolean take() {
    if (left == 0) {
      return false;
    }
    left--;
    return true;
  }
}
