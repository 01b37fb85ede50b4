package org.hghca.verbs;

/**
 * A capability: what a program may ask of a device beyond SEND, RDMA WRITE and RDMA READ of some
 * bytes between two connected queue pairs, which every device has. {@link
 * DeviceAttributes#features} says of each whether the card has it, the driver, or nobody; what
 * happens to a program that uses it nevertheless is stated here. Where a device departs from the
 * specification otherwise, {@link DeviceQuirk} says how.
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

  /** Completion channels. In software: completion queues are looked at from time to time. */
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

  /** A request that gets no answer ends ({@code timeout}). In software: it ends later. */
  ACK_TIMEOUT,

  /** What is outstanding in ERR completes with {@code IBV_WC_WR_FLUSH_ERR}. */
  FLUSH,

  /** Flow labels spread connections over paths. */
  ENTROPY,

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
