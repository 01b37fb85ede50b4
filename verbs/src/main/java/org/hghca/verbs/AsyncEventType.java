package org.hghca.verbs;

/** The kind of an asynchronous event: the numbers of {@code ibv_event_type}. */
public enum AsyncEventType {
  /** A completion queue was overrun or could not be written. */
  CQ_ERR(0),
  /** A queue pair failed in a way that gives no completion, and is in ERR. */
  QP_FATAL(1),
  /** A queue pair refused a request of its peer as invalid, and is in ERR. */
  QP_REQ_ERR(2),
  /** A queue pair refused a peer access to memory, and is in ERR. */
  QP_ACCESS_ERR(3),
  /** A queue pair in RTR has received its first packet. */
  COMM_EST(4),
  /** A send queue is drained: all requests that were started have ended. */
  SQ_DRAINED(5),
  /** A connection has migrated to its alternate path, which is the primary one now. */
  PATH_MIG(6),
  /** The peer has migrated to a path that is not the connection's alternate path. */
  PATH_MIG_ERR(7),
  /** The device has failed and must be closed and opened again. */
  DEVICE_FATAL(8),
  PORT_ACTIVE(9),
  PORT_ERR(10),
  /** A shared receive queue failed. */
  SRQ_ERR(14),
  /** A shared receive queue holds fewer requests than its limit. */
  SRQ_LIMIT_REACHED(15),
  /**
   * A queue pair in ERR takes no more requests from its shared receive queue; or a queue pair of a
   * card without a PSN wrap has used 90 % of its PSNs, and will end.
   */
  QP_LAST_WQE_REACHED(16);

  private final int code;

  AsyncEventType(int code) {
    this.code = code;
  }

  /** The number in libibverbs. */
  public int code() {
    return code;
  }

  /** The name in libibverbs. */
  public String symbol() {
    return "IBV_EVENT_" + name();
  }
}
