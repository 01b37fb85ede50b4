package org.hghca.driver;

import org.hghca.abi.HardwareProfile;
import org.hghca.abi.QpcState;
import org.hghca.verbs.QpState;

/**
 * Finds errors that the first RTL tells by no completion: a message found no receive, or too small
 * a one, or bad memory. The card is asked at most once a second, and not while messages come. Under
 * the queue pair's monitor.
 */
final class SilentErrors {
  /** How often to ask the card of a queue pair that waits for messages. */
  private static final long ASK_NANOS = 1_000_000_000;

  private final RecoveredQueuePair qp;
  private final PsnWatch psns;
  private final NumberReuse reuse;
  private final boolean canTell;

  /** When the card was asked last, and how many receives were complete then. */
  private long asked;

  private int receivedThen;

  SilentErrors(RecoveredQueuePair qp, PsnWatch psns, NumberReuse reuse, HardwareProfile profile) {
    this.qp = qp;
    this.psns = psns;
    this.reuse = reuse;
    this.canTell = profile.misplacesSequenceNumbers();
  }

  /** The queue pair takes messages from now on. */
  void begin() {
    receivedThen =
        qp.rings().receives().tail() - 1; // looks like a receive: it is not asked at once
  }

  /**
   * Whether the card has put a queue pair that waits for messages into ERR and gives no completion
   * that says so.
   *
   * @param now nanoseconds of a clock of the card's time
   */
  boolean find(long now) {
    QpState state = qp.state();
    if (state != QpState.RTR && state != QpState.RTS || !canTell) {
      return false;
    }
    int received = qp.rings().receives().tail();
    if (received != receivedThen || qp.rings().receives().outstanding() == 0) {
      receivedThen = received;
      asked = now;
      return false;
    }
    if (now - asked < ASK_NANOS) {
      return false;
    }
    asked = now;
    // What fails a send says so.
    return showsError() && qp.sendCompletionQueue().outstandingWork(qp.rings()).sends() == 0;
  }

  /** Whether the card is in ERR, as far as it can tell. */
  boolean showsError() {
    return canTell
        && (reuse.hasLived() || qp.state() == QpState.RTS)
        && psns.ask().state() == QpcState.ERR;
  }
}
