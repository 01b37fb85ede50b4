package org.hghca.provider.queue;

import org.hghca.provider.Resource;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * The room of a completion queue for requests that the attached queues can have outstanding: each
 * queue reserves its depth, so that no completion is lost. Thread-safe.
 */
public final class CompletionRoom {
  private final int capacity;
  private int reserved;

  /**
   * Nothing is reserved.
   *
   * @param capacity number of requests
   */
  public CompletionRoom(int capacity) {
    this.capacity = capacity;
  }

  /**
   * Reserves room for all requests that a queue can have outstanding.
   *
   * @param queue the completion queue, in messages
   * @throws VerbsException ENOMEM when there is less
   */
  public synchronized void reserve(int requests, Resource queue) {
    int left = capacity - reserved;
    if (requests > left) {
      throw new VerbsException(
          Errno.ENOMEM,
          "%s has room for %d more outstanding requests, not %d: use another completion queue"
              .formatted(queue.describe(), left, requests));
    }
    reserved += requests;
  }

  /** Gives room back. */
  public synchronized void unreserve(int requests) {
    reserved -= requests;
  }

  /** What is reserved, for logs. */
  public synchronized int reserved() {
    return reserved;
  }
}
