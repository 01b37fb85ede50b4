package org.hghca.verbs;

/**
 * Receive requests for many queue pairs: {@code ibv_srq}. Thread-safe. Closing is idempotent and
 * fails with EBUSY, naming them, while queue pairs use it; the remaining requests are dropped.
 *
 * <p>Where {@link DeviceFeature#SHARED_RECEIVE_QUEUES} is {@link FeatureSupport#NATIVE} a message
 * takes the request that was posted first, whichever queue pair it arrives on. Where it is {@link
 * FeatureSupport#SOFTWARE} the card has plain receive queues only, and the driver distributes the
 * requests to those of the queue pairs: at each post and each poll, and within 2 ms when the
 * program does not poll. The differences are:
 *
 * <ul>
 *   <li>A request that was given to a queue pair stays there until that queue pair is reset, closed
 *       or in ERR. An idle queue pair gets one request (two for UC and UD); a receiving one gets as
 *       many as it may need in a millisecond, at most half of the waiting ones. Therefore not all
 *       of n posted requests reach one of several queue pairs; the rest follow when more are
 *       posted.
 *   <li>A queue pair of RC may be without a request while some wait: its peer gets an RNR NAK, and
 *       retries after {@code min_rnr_timer}. Peers should retry indefinitely, {@code rnr_retry} 7,
 *       or for more than 2 ms. On UC and UD there are no retries: when an idle queue pair receives
 *       a burst, messages beyond two can be lost, or beyond 16 if no other queue pair uses the
 *       queue.
 *   <li>A request that is flushed in ERR generates no completion and returns to its old place in
 *       the queue. The device's queue flushes only the request of a message in flight, with a
 *       WR_FLUSH_ERR completion.
 *   <li>The limit counts a request until its completion is polled; the device's queue counts it
 *       until a message takes it.
 * </ul>
 *
 * <p>In both, requests whose completions are not polled when their queue pair is reset or closed
 * wait again; in the device's queue after all others.
 */
public interface SharedReceiveQueue extends AutoCloseable {

  ProtectionDomain protectionDomain();

  /** The number of requests that it holds, including those whose completions are not polled. */
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
   * Posts requests in order, while there is room.
   *
   * @return how many were posted
   * @throws IndexOutOfBoundsException when the range is not within the list; nothing is posted
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

  /** Posts a list of requests in order; ENOMEM at the first that does not fit. */
  default void postReceive(ReceiveRequest[] requests) {
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
   * @throws VerbsException EINVAL when more requests are outstanding, the limit is higher, or it
   *     exceeds the limit of the device; ENOMEM when a completion queue has no room for as many
   */
  void resize(int capacity);

  @Override
  void close();
}
