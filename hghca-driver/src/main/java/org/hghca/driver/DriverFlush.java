package org.hghca.driver;

import org.hghca.verbs.Completions;
import org.hghca.verbs.ReceiveRequest;

/**
 * The requests of a queue pair in ERR that the driver completes: those that the card never sees.
 * All of them behind what the card has completed. Called under the lock of a completion queue
 * unless said otherwise.
 */
sealed interface DriverFlush permits ReceiveFlush, SoftwareFlush {

  /**
   * Takes a receive that is posted in ERR, under the receive lock; false when as many are
   * outstanding as the queue holds.
   */
  boolean post(ReceiveRequest request);

  /** How many sends it was given to complete. Under any lock. */
  long sendsPosted();

  /** How many receives it was given to complete. Under any lock. */
  long receivesPosted();

  /** Whether a completion can be had for a completion queue. */
  boolean isReady(HghcaCompletionQueue queue);

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
  int complete(HghcaCompletionQueue queue, Completions out, int from, int max, long[] failures);
}
