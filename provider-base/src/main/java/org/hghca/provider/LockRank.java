package org.hghca.provider;

/**
 * The order in which a thread takes the locks of queues: from the first constant to the last, each
 * at most once at a time.
 */
public enum LockRank {
  /** Who posts receives, to a queue pair or to what several share over their own rings. */
  RECEIVES,
  /** Who polls a completion queue. */
  COMPLETIONS,
  /** Who posts sends to a ring: polling rings for requests that waited. */
  SENDS,
  /** A shared receive queue of the device, whose slots completions free. */
  SHARED_RECEIVES
}
