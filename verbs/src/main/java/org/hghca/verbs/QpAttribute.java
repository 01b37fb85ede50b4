package org.hghca.verbs;

/** An attribute of a queue pair that can be modified: the bits of {@code ibv_qp_attr_mask}. */
public enum QpAttribute {
  STATE(0),
  CUR_STATE(1),
  EN_SQD_ASYNC_NOTIFY(2),
  ACCESS_FLAGS(3),
  PKEY_INDEX(4),
  PORT(5),
  QKEY(6),
  AV(7),
  PATH_MTU(8),
  TIMEOUT(9),
  RETRY_CNT(10),
  RNR_RETRY(11),
  RQ_PSN(12),
  MAX_QP_RD_ATOMIC(13),
  ALT_PATH(14),
  MIN_RNR_TIMER(15),
  SQ_PSN(16),
  MAX_DEST_RD_ATOMIC(17),
  PATH_MIG_STATE(18),
  CAP(19),
  DEST_QPN(20);

  private final int bit;

  QpAttribute(int position) {
    this.bit = 1 << position;
  }

  /** The bit in libibverbs. */
  public int bit() {
    return bit;
  }
}
