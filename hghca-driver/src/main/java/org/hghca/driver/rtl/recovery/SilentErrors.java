package org.hghca.driver.rtl.recovery;

import org.hghca.abi.HardwareProfile;
import org.hghca.abi.QpcState;
import org.hghca.driver.transition.DriverQueuePair;
import org.hghca.verbs.QpState;

/**
 * Detects errors for which the first RTL generates no completion: a message found no receive, one
 * that is too small, or bad memory. The card is queried at most once a second, and not while
 * messages arrive. Under the queue pair's monitor.
 */
final class SilentErrors {
  /** How often to query the card for a queue pair that waits for messages. */
  private static final long ASK_NANOS = 1_000_000_000;

  private final DriverQueuePair qp;
  private final QueuePairWork work;
  private final PsnWatch psns;
  private final NumberReuse reuse;
  private final boolean canTell;

  /** The time of the last query, and the number of completed receives then. */
  private long asked;

  private int receivedThen;

  SilentErrors(
      DriverQueuePair qp,
      QueuePairWork work,
      PsnWatch psns,
      NumberReuse reuse,
      HardwareProfile profile) {
    this.qp = qp;
    this.work = work;
    this.psns = psns;
    this.reuse = reuse;
    this.canTell = profile.misplacesSequenceNumbers();
  }

  /** The queue pair accepts messages from now on. */
  void begin() {
    receivedThen =
        qp.rings().receives().tail() - 1; // counts as a receive, so that the first query is delayed
  }

  /**
   * Whether the card has put a queue pair that waits for messages into ERR without a completion
   * that reports it.
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
    // A failing send reports its error.
    return showsError() && work.ofSends().sends() == 0;
  }

  /** Whether the card is in ERR, as far as it reports. */
  boolean showsError() {
    return canTell
        && (reuse.hasLived() || qp.state() == QpState.RTS)
        && psns.ask().state() == QpcState.ERR;
  }
}
