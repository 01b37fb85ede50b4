package org.hghca.verbs;

/** An attribute of a queue pair that can be modified: the bits of {@code ibv_qp_attr_mask}. */
public enum QpAttribute {
  STATE,
  CUR_STATE,
  EN_SQD_ASYNC_NOTIFY,
  ACCESS_FLAGS,
  PKEY_INDEX,
  PORT,
  QKEY,
  AV,
  PATH_MTU,
  TIMEOUT,
  RETRY_CNT,
  RNR_RETRY,
  RQ_PSN,
  MAX_QP_RD_ATOMIC,
  ALT_PATH,
  MIN_RNR_TIMER,
  SQ_PSN,
  MAX_DEST_RD_ATOMIC,
  PATH_MIG_STATE,
  CAP,
  DEST_QPN;

  /** The bit in libibverbs, and in table A1-3 of the interface document. */
  public int bit() {
    return 1 << ordinal();
  }
}
