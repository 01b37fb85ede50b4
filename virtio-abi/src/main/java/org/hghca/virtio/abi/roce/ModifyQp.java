package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Field;

/** {@code virtio_rdma_cmd_modify_qp}. */
public final class ModifyQp {
  /** Bytes of the structure. */
  public static final int SIZE = 128;

  /** Number of the queue pair. */
  public static final Field QPN = Field.le32("qpn", 0);

  /** Mask of {@link QpAttributeMask}. */
  public static final Field ATTR_MASK = Field.le32("attr_mask", 4);

  /** New {@link QpState}. */
  public static final Field QP_STATE = Field.u8("qp_state", 8);

  /** Current {@link QpState}, as the driver believes. */
  public static final Field CUR_QP_STATE = Field.u8("cur_qp_state", 9);

  /** {@link PathMtu}. */
  public static final Field PATH_MTU = Field.u8("path_mtu", 10);

  /** RDMA READs outstanding. */
  public static final Field MAX_RD_ATOMIC = Field.u8("max_rd_atomic", 11);

  /** RDMA READs to answer. */
  public static final Field MAX_DEST_RD_ATOMIC = Field.u8("max_dest_rd_atomic", 12);

  /** Code of the time in an RNR NAK, 5 bits. */
  public static final Field MIN_RNR_TIMER = Field.u8("min_rnr_timer", 13);

  /** Local ACK time-out: 4.096 us times two to this power, 0 for none. */
  public static final Field TIMEOUT = Field.u8("timeout", 14);

  /** Retries, 3 bits. */
  public static final Field RETRY_CNT = Field.u8("retry_cnt", 15);

  /** Retries after receiver not ready, 7 for no end. */
  public static final Field RNR_RETRY = Field.u8("rnr_retry", 16);

  /** Q_Key. */
  public static final Field QKEY = Field.le32("qkey", 24);

  /** PSN of the receive queue, 24 bits. */
  public static final Field RQ_PSN = Field.le32("rq_psn", 28);

  /** PSN of the send queue, 24 bits. */
  public static final Field SQ_PSN = Field.le32("sq_psn", 32);

  /** Number of the other queue pair. */
  public static final Field DEST_QPN = Field.le32("dest_qp_num", 36);

  /** Mask of {@link MrAccess}. */
  public static final Field ACCESS_FLAGS = Field.le32("qp_access_flags", 40);

  /** Rate limit in kbit/s. */
  public static final Field RATE_LIMIT = Field.le32("rate_limit", 44);

  /** Offset of the {@link QpCapacity}. */
  public static final int CAPACITY = 48;

  /** Offset of the {@link AddressVector}. */
  public static final int ADDRESS_VECTOR = 72;

  private ModifyQp() {}
}
