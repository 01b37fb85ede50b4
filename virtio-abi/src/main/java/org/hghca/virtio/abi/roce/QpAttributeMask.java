package org.hghca.virtio.abi.roce;

/**
 * Which attributes a {@link ModifyQp} or {@link QueryQp} is about. The bits are not those of
 * libibverbs.
 */
public final class QpAttributeMask {
  /** State. */
  public static final int STATE = 1 << 0;

  /** Current state, as the driver believes. */
  public static final int CUR_STATE = 1 << 1;

  /** Access flags. */
  public static final int ACCESS_FLAGS = 1 << 2;

  /** Q_Key. */
  public static final int QKEY = 1 << 3;

  /** Address vector. */
  public static final int AV = 1 << 4;

  /** Path MTU. */
  public static final int PATH_MTU = 1 << 5;

  /** Local ACK time-out. */
  public static final int TIMEOUT = 1 << 6;

  /** Retries. */
  public static final int RETRY_CNT = 1 << 7;

  /** Retries after receiver not ready. */
  public static final int RNR_RETRY = 1 << 8;

  /** PSN of the receive queue. */
  public static final int RQ_PSN = 1 << 9;

  /** RDMA READs outstanding. */
  public static final int MAX_QP_RD_ATOMIC = 1 << 10;

  /** Minimum RNR NAK timer. */
  public static final int MIN_RNR_TIMER = 1 << 11;

  /** PSN of the send queue. */
  public static final int SQ_PSN = 1 << 12;

  /** RDMA READs to answer. */
  public static final int MAX_DEST_RD_ATOMIC = 1 << 13;

  /** Capacity. */
  public static final int CAP = 1 << 14;

  /** Number of the other queue pair. */
  public static final int DEST_QPN = 1 << 15;

  /** Rate limit. */
  public static final int RATE_LIMIT = 1 << 16;

  private QpAttributeMask() {}
}
