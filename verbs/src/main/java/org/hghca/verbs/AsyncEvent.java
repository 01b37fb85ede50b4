package org.hghca.verbs;

/**
 * Something that happened to a device, a port or an object, not to a work request: {@code
 * ibv_async_event}. It is one of five kinds, which a {@code switch} distinguishes. Thread-safe.
 */
public sealed interface AsyncEvent {

  /** What happened to a queue pair. */
  non-sealed interface OfQueuePair extends AsyncEvent {

    QueuePair queuePair();
  }

  /** What happened to a completion queue. */
  non-sealed interface OfCompletionQueue extends AsyncEvent {

    CompletionQueue completionQueue();
  }

  /** What happened to a shared receive queue. */
  non-sealed interface OfSharedReceiveQueue extends AsyncEvent {

    SharedReceiveQueue sharedReceiveQueue();
  }

  /** What happened to a port. */
  non-sealed interface OfPort extends AsyncEvent {

    /** The port, from 1. */
    int port();
  }

  /** What happened to the device. */
  non-sealed interface OfDevice extends AsyncEvent {}

  AsyncEventType type();

  /**
   * Acknowledges the event: {@code ibv_ack_async_event}. Until then the object that it happened to
   * cannot be closed. Acknowledging twice does nothing.
   */
  void acknowledge();
}
