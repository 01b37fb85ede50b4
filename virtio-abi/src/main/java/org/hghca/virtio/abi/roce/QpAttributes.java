package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Field;

/** {@code virtio_rdma_ack_query_qp}. */
public final class QpAttributes {
  /** Bytes of the structure. */
  public static final int SIZE = 120;

  /** {@link QpState}. */
  public static final Field QP_STATE = Field.u8("qp_state", 0);

  /** {@link PathMtu}. */
  public static final Field PATH_MTU = Field.u8("path_mtu", 1);

  /** 1 while the send queue drains. */
  public static final Field SQ_DRAINING = Field.u8("sq_draining", 2);

  /** RDMA READs outstanding. */
  public static final Field MAX_RD_ATOMIC = Field.u8("max_rd_atomic", 3);

  /** RDMA READs to answer. */
  public static final Field MAX_DEST_RD_ATOMIC = Field.u8("max_dest_rd_atomic", 4);

  /** Code of the time in an RNR NAK. */
  public static final Field MIN_RNR_TIMER = Field.u8("min_rnr_timer", 5);

  /** Local ACK time-out. */
  public static final Field TIMEOUT = Field.u8("timeout", 6);

  /** Retries. */
  public static final Field RETRY_CNT = Field.u8("retry_cnt", 7);

  /** Retries after receiver not ready. */
  public static final Field RNR_RETRY = Field.u8("rnr_retry", 8);

  /** Q_Key. */
  public static final Field QKEY = Field.le32("qkey", 16);

  /** PSN of the receive queue. */
  public static final Field RQ_PSN = Field.le32("rq_psn", 20);

  /** PSN of the send queue. */
  public static final Field SQ_PSN = Field.le32("sq_psn", 24);

  /** Number of the other queue pair. */
  public static final Field DEST_QPN = Field.le32("dest_qp_num", 28);

  /** Mask of {@link MrAccess}. */
  public static final Field ACCESS_FLAGS = Field.le32("qp_access_flags", 32);

  /** Rate limit in kbit/s. */
  public static final Field RATE_LIMIT = Field.le32("rate_limit", 36);

  /** Offset of the {@link QpCapacity}. */
  public static final int CAPACITY = 40;

  /** Offset of the {@link AddressVector}. */
  public static final int ADDRESS_VECTOR = 64;

  private QpAttributes() {}
}
