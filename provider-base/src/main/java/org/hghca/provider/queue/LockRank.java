package org.hghca.provider.queue;

/**
 * The order in which a thread takes the locks of queues: from the first constant to the last, each
 * at most once at a time.
 */
public enum LockRank {
  /**
   * Posting receives, to a queue pair or to a shared receive queue over the queue pairs' own rings.
   */
  RECEIVES,
  /** Polling a completion queue. */
  COMPLETIONS,
  /** Posting sends to a ring; polling takes it to ring for waiting requests. */
  SENDS,
  /** A shared receive queue of the device, whose slots completions free. */
  SHARED_RECEIVES
}
