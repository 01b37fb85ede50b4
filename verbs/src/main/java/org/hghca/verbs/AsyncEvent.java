package org.hghca.verbs;

import java.util.Optional;

/**
 * Something that happened to a device, a port or an object, not to a work request: {@code
 * ibv_async_event}. Thread-safe.
 */
public interface AsyncEvent {

  AsyncEventType type();

  /** The queue pair that it happened to. */
  Optional<QueuePair> queuePair();

  /** The completion queue that it happened to. */
  Optional<CompletionQueue> completionQueue();

  /** The shared receive queue that it happened to. */
  Optional<SharedReceiveQueue> sharedReceiveQueue();

  /** The port that it happened to, from 1; 0 when it did not happen to a port. */
  int port();

  /**
   * Says that the event was dealt with: {@code ibv_ack_async_event}. Until then the object that it
   * happened to cannot be closed. Acknowledging twice does nothing.
   */
  void acknowledge();
}
