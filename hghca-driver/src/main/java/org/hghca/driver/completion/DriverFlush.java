package org.hghca.driver.completion;

import org.hghca.verbs.Completions;
import org.hghca.verbs.ReceiveRequest;

/**
 * The requests of a queue pair in ERR that the driver completes: those that the card never sees.
 * All of them complete after those that the card has completed. Called under the lock of a
 * completion queue unless said otherwise.
 */
public interface DriverFlush {
  /** Takes a receive that is posted in ERR, under the receive lock; false if the queue is full. */
  boolean post(ReceiveRequest request);

  /** Number of sends that it was given to complete. Under any lock. */
  long sendsPosted();

  /** Number of receives that it was given to complete. Under any lock. */
  long receivesPosted();

  /**
   * Whether a completion is available for a completion queue.
   *
   * @param queue the queue of the card's completions
   */
  boolean isReady(CompletionRing queue);

  /** Whether no completion will arrive for a completion queue without a new post. */
  boolean isEmpty();

  /**
   * Fills completions for a completion queue without completions of the card.
   *
   * @param from the first index to fill
   * @param max the index after the last
   * @param failures counts by status
   * @return the index after the last filled one
   */
  int complete(CompletionRing queue, Completions out, int from, int max, long[] failures);
}
