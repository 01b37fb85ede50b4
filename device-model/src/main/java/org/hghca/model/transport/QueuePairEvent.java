package org.hghca.model.transport;

/** What happens to a queue pair and is no completion of a work request. */
public enum QueuePairEvent {
  /** The first packet has arrived while the queue pair was in RTR. */
  COMMUNICATION_ESTABLISHED,

  /** The send queue was on its way to SQD, and all started requests have completed. */
  SEND_QUEUE_DRAINED,

  /** A request of the peer was refused as invalid, and no receive completes with it. */
  INVALID_REQUEST,

  /** A request of the peer was refused for its access to memory. */
  ACCESS_VIOLATION,

  /** The queue pair is in error and takes no more requests from its shared queue. */
  LAST_RECEIVE_REACHED,

  /** The connection has migrated to its alternate path. */
  PATH_MIGRATED,

  /** The peer has migrated to a path that is not the connection's alternate path. */
  MIGRATION_FAILED,

  /** The queue pair failed in a way that no completion reports. */
  WORK_QUEUE_FAILED
}
