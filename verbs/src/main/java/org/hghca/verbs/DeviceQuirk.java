package org.hghca.verbs;

/**
 * What a device does otherwise than the InfiniBand specification asks of every channel adapter, as
 * a program may notice. A device by the book has none of these.
 */
public enum DeviceQuirk {
  /**
   * The value of an immediate is lost: an RDMA WRITE with an immediate takes a receive, whose
   * completion has no value ({@code IBV_WC_WITH_IMM}).
   */
  NO_IMMEDIATE_VALUE,

  /** Asynchronous events that only the device knows of never come. */
  NO_CARD_EVENTS,

  /** Nobody can ask whether the port is up; it is assumed to be. */
  PORT_STATE_ASSUMED,

  /** Why a send failed is not told: {@code IBV_WC_GENERAL_ERR} where the driver cannot tell. */
  NO_ERROR_CAUSE,

  /** Receives that fail give no completion and stay outstanding until they are flushed. */
  NO_RECEIVE_ERRORS,

  /**
   * Bad keys, bounds and rights of local memory are EINVAL at the post, checked to the byte,
   * instead of completions with {@code IBV_WC_LOC_PROT_ERR}.
   */
  LOCAL_ERRORS_AT_POST,

  /** A region that a request names cannot be deregistered: EBUSY until the request is done. */
  REGIONS_BUSY_IN_USE,

  /** A READ that the peer refuses ends the service of the device. */
  FATAL_REFUSED_READS,

  /**
   * Keys, bounds and rights that peers name are not checked: their requests are executed
   * nevertheless, or lost, and complete with success.
   */
  NO_REMOTE_PROTECTION,

  /**
   * What peers reach of a region is checked to the page, not to the byte; on the first RTL without
   * a bound below: an address under that of a region leads to others' memory.
   */
  REMOTE_BOUNDS_BY_PAGE,

  /** {@code qp_access_flags} are not used: regions alone say what peers may do. */
  NO_QUEUE_PAIR_ACCESS,

  /**
   * Receives, READ results and targets of peers' WRITEs must be aligned, see {@link
   * DeviceAdvice#destinationAlignment}: EINVAL where the driver sees one that the device does not
   * survive.
   */
  ALIGNED_DESTINATIONS,

  /** Sequence numbers do not wrap: they should begin low, for 2^24 packets a connection. */
  NO_PSN_WRAP,

  /** No global route header precedes a datagram ({@code IBV_WC_GRH}), only 40 bytes of nothing. */
  NO_GRH,

  /** A datagram queue pair hears only one peer. */
  ONE_DATAGRAM_PEER,

  /** Datagrams with a wrong Q_Key are taken. */
  NO_QKEY_CHECK,

  /** A message that comes before the receiver's RTR fails, or gets lost, instead of waiting. */
  LOSSY_INIT,

  /**
   * A queue pair that was connected cannot be connected again: RESET is EIO, and another queue pair
   * takes its place.
   */
  NO_RECONNECTION,

  /** Queue pairs cannot be made without end: numbers are retired, ENOMEM in the end. */
  FINITE_QUEUE_PAIR_NUMBERS
}
