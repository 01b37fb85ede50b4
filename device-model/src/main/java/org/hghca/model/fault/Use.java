package org.hghca.model.fault;

/** What the card does with a piece of host memory. */
enum Use {
  /** It fetches a command, a work request or a descriptor, or waits for one. */
  REQUEST,
  /** It writes the answer of a command. */
  ANSWER,
  /** It writes the limits of the device: the answer of QUERY_DEV_LIM or QUERY_DEVICE. */
  LIMITS,
  /** It writes the answer of QUERY_ADAPTER. */
  ADAPTER,
  /** Its contexts and translation tables. */
  ICM,
  /** An entry of a completion queue. */
  COMPLETION,
  /** The ring that returns the buffers of a virtio completion queue. */
  COMPLETION_RING,
  /** An entry of an event queue. */
  EVENT,
  /** Something else that is no payload of an RDMA message. */
  OTHER,
  /** The payload of messages. */
  PAYLOAD;

  /** Whether it is the answer of any command. */
  boolean isAnswer() {
    return this == ANSWER || this == LIMITS || this == ADAPTER;
  }
}
