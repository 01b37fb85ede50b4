package org.hghca.verbs;

/**
 * A capability of a device beyond SEND, RDMA WRITE and RDMA READ of at least one byte between two
 * connected queue pairs, which every device supports. {@link DeviceAttributes#features} says for
 * each whether the card implements it, the driver, or neither; this class documents what happens
 * when a program uses a missing one. For other deviations of a device from the specification, see
 * {@link DeviceQuirk}.
 */
public enum DeviceFeature {
  /** Compare-and-swap and fetch-and-add ({@code atomic_cap}). Missing: EOPNOTSUPP at the post. */
  ATOMICS,

  /** {@code IBV_WR_SEND_WITH_IMM}. Missing: EOPNOTSUPP at the post. */
  SEND_WITH_IMMEDIATE,

  /** Messages of no bytes. Missing: EOPNOTSUPP at the post; empty elements are left out. */
  ZERO_LENGTH,

  /** Inline data of datagrams ({@code IBV_SEND_INLINE}). Missing: EOPNOTSUPP at the post. */
  INLINE_DATAGRAMS,

  /** Shared receive queues ({@code max_srq}). Missing: EOPNOTSUPP. */
  SHARED_RECEIVE_QUEUES,

  /** Completion channels. In software: the driver polls the completion queues periodically. */
  COMPLETION_EVENTS,

  /** Events of solicited completions only ({@code solicited_only}). Missing: EOPNOTSUPP. */
  SOLICITED_ONLY,

  /** {@code IBV_QPS_SQD}. Missing: EOPNOTSUPP. */
  SQD,

  /** {@code IBV_QPS_SQE}. Missing: a send error of any type of queue pair leads to ERR. */
  SQE,

  /**
   * A message waits for a receive ({@code rnr_retry}). Missing: it ends the connection, so receives
   * must be posted before the peer may send, and as many as it may have in flight.
   */
  RNR_RETRY,

  /** Lost packets are sent again ({@code retry_cnt}). Missing: they end the connection. */
  LOSS_RECOVERY,

  /** A request without an answer fails ({@code timeout}). In software: it fails later. */
  ACK_TIMEOUT,

  /** Outstanding requests in ERR complete with {@code IBV_WC_WR_FLUSH_ERR}. */
  FLUSH,

  /** Flow labels spread connections over paths. */
  ENTROPY,

  /** {@code ibv_resize_cq}. Missing: EOPNOTSUPP. */
  RESIZE_CQ,

  /** {@code ibv_rereg_mr}, which keeps the keys. Missing: EOPNOTSUPP. */
  REREGISTRATION,

  /** Memory windows ({@code max_mw}). Missing: EOPNOTSUPP. */
  MEMORY_WINDOWS,

  /** Alternate paths ({@code IBV_DEVICE_AUTO_PATH_MIG}). Missing: EOPNOTSUPP. */
  PATH_MIGRATION,

  /** The queue pair of the general services ({@code IB_QPT_GSI}). Missing: EOPNOTSUPP. */
  GSI_QUEUE_PAIR,

  /** Multicast groups ({@code max_mcast_grp}). Missing: EOPNOTSUPP. */
  MULTICAST,

  /** Memory that is not pinned ({@code IBV_ACCESS_ON_DEMAND}). Missing: EOPNOTSUPP. */
  ON_DEMAND_PAGING
}
