package org.hghca.verbs;

/**
 * A deviation of a device from the requirements of the InfiniBand specification for channel
 * adapters that a program may notice. A conforming device has none of these.
 */
public enum DeviceQuirk {
  /**
   * The value of an immediate is lost: an RDMA WRITE with an immediate takes a receive, whose
   * completion has no value ({@code IBV_WC_WITH_IMM}).
   */
  NO_IMMEDIATE_VALUE,

  /** Asynchronous events that only the device can detect are never raised. */
  NO_CARD_EVENTS,

  /** The state of the port cannot be queried; it is assumed to be up. */
  PORT_STATE_ASSUMED,

  /**
   * The reason of a send failure is not reported: {@code IBV_WC_GENERAL_ERR} if the driver cannot
   * determine it.
   */
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

  /** A READ that the peer refuses stops the device. */
  FATAL_REFUSED_READS,

  /**
   * Keys, bounds and rights of peers' requests are not checked: invalid requests are executed, or
   * lost, and complete with success.
   */
  NO_REMOTE_PROTECTION,

  /**
   * Accesses of peers to a region are checked to the page, not to the byte. The first RTL has no
   * lower bound: an address below a region accesses other memory.
   */
  REMOTE_BOUNDS_BY_PAGE,

  /** {@code qp_access_flags} are not used: only regions limit the access of peers. */
  NO_QUEUE_PAIR_ACCESS,

  /**
   * Receives, READ results and targets of peers' WRITEs must be aligned, see {@link
   * DeviceAdvice#destinationAlignment}: EINVAL if the driver detects one that would stop the
   * device.
   */
  ALIGNED_DESTINATIONS,

  /**
   * A SEND or WRITE of a connection cannot have the last PSN. It ends before that, after at most
   * 2^24 packets, unless its peer offers memory ({@link QueuePair#takeWrapMemory}). First PSNs
   * should be low.
   */
  NO_PSN_WRAP,

  /** No global route header precedes a datagram ({@code IBV_WC_GRH}), only 40 undefined bytes. */
  NO_GRH,

  /** A datagram queue pair receives from only one peer. */
  ONE_DATAGRAM_PEER,

  /** Datagrams with a wrong Q_Key are accepted. */
  NO_QKEY_CHECK,

  /** A message that arrives before the receiver is in RTR fails or is lost, instead of waiting. */
  LOSSY_INIT,

  /**
   * A queue pair that was connected cannot be connected again: RESET is EIO, and another queue pair
   * takes its place.
   */
  NO_RECONNECTION,

  /**
   * The total number of queue pairs is limited: numbers are retired, and creation finally fails
   * with ENOMEM.
   */
  FINITE_QUEUE_PAIR_NUMBERS
}
