package org.hghca.model.transport;

/** The status of a completed work request. */
public enum WorkStatus {
  SUCCESS,
  /** The receive buffers are too small, or a message is longer than 2^31 bytes. */
  LOCAL_LENGTH,
  /** The work request is malformed, or the queue pair cannot execute it. */
  LOCAL_OPERATION,
  /** The work queue that the work request is in cannot be read. */
  QUEUE_UNREADABLE,
  /** A local buffer's key, domain, bounds or permission is wrong, or its memory is gone. */
  LOCAL_PROTECTION,
  /** The queue pair was in error before the work request was done. */
  FLUSHED,
  /** The responder sent an unexpected response. */
  BAD_RESPONSE,
  /** The responder refuses the request. */
  REMOTE_INVALID_REQUEST,
  /** The responder refuses access to its memory. */
  REMOTE_ACCESS,
  /** The responder failed while it served the request. */
  REMOTE_OPERATION,
  /** There was no response. */
  RETRIES_EXCEEDED,
  /** The responder never had a receive buffer. */
  RECEIVER_NOT_READY
}
