package org.hghca.verbs;

/**
 * What a program may ask of a device beyond SEND, RDMA WRITE and RDMA READ of some bytes between
 * two connected queue pairs, which every device has. {@link DeviceAttributes#features} says of each
 * whether the card has it, the driver, or nobody; what happens to a program that uses it all the
 * same is said here.
 */
public enum DeviceFeature {
  /** Compare-and-swap and fetch-and-add ({@code atomic_cap}). Missing: EOPNOTSUPP at the post. */
  ATOMICS,

  /** {@code IBV_WR_SEND_WITH_IMM}. Missing: EOPNOTSUPP at the post. */
  SEND_WITH_IMMEDIATE,

  /**
   * The value of an immediate in the completion of the receive ({@code IBV_WC_WITH_IMM}). Missing:
   * an RDMA WRITE with an immediate takes a receive, whose completion has no value.
   */
  IMMEDIATE_VALUE,

  /** Messages of no bytes. Missing: EOPNOTSUPP at the post; empty elements are left out. */
  ZERO_LENGTH,

  /** Inline data of datagrams ({@code IBV_SEND_INLINE}). Missing: EOPNOTSUPP at the post. */
  INLINE_DATAGRAMS,

  /** Shared receive queues ({@code max_srq}). Missing: EOPNOTSUPP. */
  SHARED_RECEIVE_QUEUES,

  /** Completion channels. In software: completion queues are looked at from time to time. */
  COMPLETION_EVENTS,

  /** Events of solicited completions only ({@code solicited_only}). Missing: EOPNOTSUPP. */
  SOLICITED_ONLY,

  /** Asynchronous events that only the card knows of. Missing: they never come. */
  CARD_EVENTS,

  /** Whether the port is up. Missing: it is assumed to be. */
  PORT_STATE,

  /** {@code IBV_QPS_SQD}. Missing: EOPNOTSUPP. */
  SQD,

  /** {@code IBV_QPS_SQE}. Missing: a send error of any type of queue pair leads to ERR. */
  SQE,

  /**
   * A message waits for a receive ({@code rnr_retry}). Missing: it ends the connection, so receives
   * must be posted before the peer may send, and as many as it may have under way.
   */
  RNR_RETRY,

  /** Lost packets are sent again ({@code retry_cnt}). Missing: they end the connection. */
  LOSS_RECOVERY,

  /** A request that gets no answer ends ({@code timeout}). In software: it ends later. */
  ACK_TIMEOUT,

  /** What is outstanding in ERR completes with {@code IBV_WC_WR_FLUSH_ERR}. */
  FLUSH,

  /** Why a send failed. Missing: {@code IBV_WC_GENERAL_ERR} where the driver cannot tell. */
  ERROR_CAUSE,

  /** Receives that fail complete with an error. Missing: they stay outstanding. */
  RECEIVE_ERRORS,

  /**
   * Bad keys, bounds and rights of the own memory are completions with {@code IBV_WC_LOC_PROT_ERR}.
   * Missing: the driver checks them to the byte, EINVAL at the post.
   */
  LOCAL_ERROR_COMPLETIONS,

  /** Memory may be deregistered while requests name it. Missing: EBUSY. */
  DEREGISTERING_IN_USE,

  /** A READ that the peer refuses fails. Missing: it ends the service of the card. */
  REFUSED_READS,

  /**
   * Keys, bounds and rights that peers name are checked, and whoever names wrong ones is told.
   * Missing: what they ask for is done all the same, or lost, and completes with success.
   */
  REMOTE_PROTECTION,

  /**
   * What peers reach of a region is checked to the byte. Missing: to the page, and the first RTL
   * has no bound below: an address under that of a region leads to others' memory.
   */
  BYTE_EXACT_REMOTE_BOUNDS,

  /** {@code qp_access_flags}. Missing: regions alone say what peers may do. */
  QUEUE_PAIR_ACCESS,

  /**
   * Receives, READ results and targets of peers' WRITEs at any address. Missing: EINVAL where the
   * driver sees one across a page that the card does not survive, see {@link
   * DeviceAdvice#destinationAlignment}.
   */
  ANY_DESTINATION,

  /** Sequence numbers may begin anywhere. Missing: they should begin low. */
  PSN_WRAP,

  /** The global route header before a datagram ({@code IBV_WC_GRH}). Missing: 40 bytes of none. */
  GRH,

  /** Several peers of a datagram queue pair. Missing: it hears only one. */
  MANY_PEERS,

  /** Datagrams with a wrong Q_Key are dropped. Missing: they are taken. */
  QKEY_CHECK,

  /** Flow labels spread connections over paths. */
  ENTROPY,

  /** A message waits for the receiver's RTR. Missing: it fails, or gets lost. */
  SAFE_INIT,

  /**
   * A queue pair that was connected is taken to RESET and connected again. Missing: EIO, and its
   * place takes another queue pair.
   */
  RECONNECTION,

  /** Queue pairs may be made without end. Missing: numbers run out, ENOMEM. */
  QUEUE_PAIR_NUMBERS_FOR_EVER,

  /** {@code ibv_resize_cq}. */
  RESIZE_CQ,

  /** Memory windows ({@code max_mw}). Missing: EOPNOTSUPP. */
  MEMORY_WINDOWS,

  /** Alternate paths ({@code IBV_DEVICE_AUTO_PATH_MIG}). Missing: EOPNOTSUPP. */
  PATH_MIGRATION,

  /** Multicast groups ({@code max_mcast_grp}). */
  MULTICAST,

  /** Memory that is not pinned ({@code IBV_ACCESS_ON_DEMAND}). Missing: EOPNOTSUPP. */
  ON_DEMAND_PAGING
}
