package org.hghca.cm;

/** What happened to an identifier: the numbers of {@code rdma_cm_event_type}. */
public enum CmEventType {
  /** The device to the address is known. */
  ADDR_RESOLVED,
  /** There is no device to the address; the status is negative. */
  ADDR_ERROR,
  /** The path is known. */
  ROUTE_RESOLVED,
  /** There is no path; the status is negative. */
  ROUTE_ERROR,
  /** A peer asks for a connection, for which there is a new identifier. */
  CONNECT_REQUEST,
  /** The peer accepts, and the identifier has no queue pair: the program modifies its own. */
  CONNECT_RESPONSE,
  /** Setting up the connection failed at this end. */
  CONNECT_ERROR,
  /**
   * The peer does not answer, or the device has failed; of datagrams also: it refuses, and the
   * status says why.
   */
  UNREACHABLE,
  /** The peer refuses; the status is the reason. */
  REJECTED,
  /** Both ends can send. */
  ESTABLISHED,
  /**
   * The peer has ended the connection, or has confirmed that this end did; with a negative status,
   * the device has failed.
   */
  DISCONNECTED,
  /**
   * The device of this identifier, or one on which it listens, has failed: close the identifier.
   * The status is negative.
   */
  DEVICE_REMOVAL,
  /** The queue pair takes part in a multicast group. */
  MULTICAST_JOIN,
  /** The queue pair cannot take part in the group. */
  MULTICAST_ERROR,
  /** The device has another address; not raised here, where a device keeps its addresses. */
  ADDR_CHANGE,
  /** No packet of the ended connection is under way any more. */
  TIMEWAIT_EXIT;

  /** The number in librdmacm. */
  public int code() {
    return ordinal();
  }

  /** The name in librdmacm. */
  public String symbol() {
    return "RDMA_CM_EVENT_" + name();
  }
}
