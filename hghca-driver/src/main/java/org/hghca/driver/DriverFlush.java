package org.hghca.driver;

import org.hghca.verbs.Completions;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.WcStatus;

/**
 * The requests of a queue pair in ERR that the driver completes: those that the card never sees.
 * All of them behind what the card has completed. Called under the lock of a completion queue
 * unless said otherwise.
 */
interface DriverFlush {
  /** Vendor error of a send whose time-out the driver has found; no card has one of nine bits. */
  int SOFTWARE_TIME_OUT = 0x100;

  /** The vendor error of a send that failed: what the card has said, or that we have found out. */
  static int vendorError(WcStatus status, int said) {
    return said == 0 && (status == WcStatus.RETRY_EXC_ERR || status == WcStatus.RNR_RETRY_EXC_ERR)
        ? SOFTWARE_TIME_OUT
        : said;
  }

  /**
   * Takes a receive that is posted in ERR, under the receive lock; false when as many are
   * outstanding as the queue holds.
   */
  boolean post(ReceiveRequest request);

  /** How many sends it was given to complete. Under any lock. */
  long sendsPosted();

  /** How many receives it was given to complete. Under any lock. */
  long receivesPosted();

  /**
   * Whether a completion can be had for a completion queue.
   *
   * @param queue where it completes what the card does
   */
  boolean isReady(CompletionRing queue);

  /** Whether nothing will come for a completion queue that is not posted first. */
  boolean isEmpty();

  /**
   * Fills completions for a completion queue that the card has nothing more in.
   *
   * @param from the first place to fill
   * @param max the place behind the last
   * @param failures counts by status
   * @return the place behind the last that was filled
   */
  int complete(CompletionRing queue, Completions out, int from, int max, long[] failures);
}
