package org.hghca.verbs;

/**
 * How to make a shared receive queue: {@code ibv_srq_init_attr}.
 *
 * @param capacity outstanding requests
 * @param maxSge scatter/gather elements of a request
 * @param limit see {@link SharedReceiveQueue#limit(int)}; here it counts from the first completion
 *     on, since a new queue holds nothing
 */
public record SharedReceiveQueueAttributes(int capacity, int maxSge, int limit) {

  public static SharedReceiveQueueAttributes of(int capacity, int maxSge) {
    return new SharedReceiveQueueAttributes(capacity, maxSge, 0);
  }

  public SharedReceiveQueueAttributes withLimit(int limit) {
    return new SharedReceiveQueueAttributes(capacity, maxSge, limit);
  }
}
