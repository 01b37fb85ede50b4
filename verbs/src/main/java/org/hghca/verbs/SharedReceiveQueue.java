package org.hghca.verbs;

/**
 * Receive requests for many queue pairs: {@code ibv_srq}. Thread-safe. Closing is idempotent and
 * fails with EBUSY, naming them, while queue pairs use it; requests that are left are forgotten.
 */
public interface SharedReceiveQueue extends AutoCloseable {

  ProtectionDomain protectionDomain();

  /** Outstanding requests that it holds, those that were dealt to queue pairs included. */
  int capacity();

  /** Scatter/gather elements of a request. */
  int maxSge();

  /**
   * Posts a request: {@code ibv_post_srq_recv}.
   *
   * @return false when the queue is full
   * @throws BadRequestException EINVAL for too many elements, EIO after a fatal error of the device
   */
  boolean tryPostReceive(ReceiveRequest request);

  /**
   * Posts requests in order, as far as there is room.
   *
   * @return how many were posted
   * @throws IndexOutOfBoundsException when the list has no such part; nothing is posted
   */
  int tryPostReceive(ReceiveRequest[] requests, int from, int count);

  /**
   * Posts a request.
   *
   * @throws BadRequestException ENOMEM when the queue is full
   */
  default void postReceive(ReceiveRequest request) {
    if (!tryPostReceive(request)) {
      throw full(0);
    }
  }

  /** Posts requests in order; one that finds no room ends the list with ENOMEM. */
  default void postReceive(ReceiveRequest... requests) {
    int posted = tryPostReceive(requests, 0, requests.length);
    if (posted < requests.length) {
      throw full(posted);
    }
  }

  private BadRequestException full(int index) {
    return new BadRequestException(
        Errno.ENOMEM,
        index,
        "the shared receive queue is full: %d requests are outstanding; poll the completion queues"
            .formatted(capacity()));
  }

  /**
   * Sets the limit: {@code ibv_modify_srq} with {@code IBV_SRQ_LIMIT}. When fewer requests than
   * that are outstanding, {@link AsyncEventType#SRQ_LIMIT_REACHED} is raised once and the limit is
   * 0 again.
   *
   * @param limit 0 for none
   * @throws VerbsException EINVAL when it is beyond the capacity
   */
  void limit(int limit);

  /** The limit that is set, 0 when none is: {@code ibv_query_srq}. */
  int limit();

  /**
   * Changes the capacity: {@code ibv_modify_srq} with {@code IBV_SRQ_MAX_WR}.
   *
   * @throws VerbsException EINVAL when more requests are outstanding, the limit is higher, or it is
   *     beyond what the device takes; ENOMEM when a completion queue has no room for as many
   */
  void resize(int capacity);

  @Override
  void close();
}
