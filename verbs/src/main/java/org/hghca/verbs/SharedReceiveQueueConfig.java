package org.hghca.verbs;

/**
 * The configuration of a shared receive queue: {@code ibv_srq_init_attr}.
 *
 * @param capacity outstanding requests
 * @param maxSge scatter/gather elements of a request
 * @param limit see {@link SharedReceiveQueue#limit(int)}; here it takes effect from the first
 *     completion on, since a new queue is empty
 */
public record SharedReceiveQueueConfig(int capacity, int maxSge, int limit) {

  public static SharedReceiveQueueConfig of(int capacity, int maxSge) {
    return new SharedReceiveQueueConfig(capacity, maxSge, 0);
  }

  public SharedReceiveQueueConfig withLimit(int limit) {
    return new SharedReceiveQueueConfig(capacity, maxSge, limit);
  }
}
