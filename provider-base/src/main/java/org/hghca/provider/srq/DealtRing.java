package org.hghca.provider.srq;

import org.hghca.verbs.ReceiveRequest;

/**
 * The receive queue of a queue pair, to which a shared receive queue deals its requests. Requests
 * are posted at the head and complete in order at the tail; both are free-running positions.
 *
 * <p>Under the shared queue's lock, except for {@link #tail}.
 */
public interface DealtRing {
  /** Number of slots, a power of two. */
  int slots();

  /** Number of posted requests. */
  int head();

  /** Number of completed requests. */
  int tail();

  /** Whether another request can be posted. */
  boolean hasRoom();

  /**
   * Posts a request; the device may see it after {@link #publish} only.
   *
   * @param index in the caller's list, for messages
   * @return false when there is no room
   */
  boolean post(ReceiveRequest request, int index);

  /** Makes what was posted visible to the device. */
  void publish();

  /**
   * Clears everything: the device has finished with it. Under the lock of the completion queue as
   * well.
   */
  void reset();
}
