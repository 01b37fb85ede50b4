package org.hghca.abi;

/**
 * Bits of {@link QueuePairContext#OPT_PARAM_MASK}: which attributes a MODIFY_QP changes (interface
 * document, table A1-3). The numbers are those of libibverbs' {@code ibv_qp_attr_mask}.
 *
 * <p>The RTL ignores the mask and replaces the whole context.
 */
public final class OptParamMask {
  /** Bit 0, IB_QP_STATE. */
  public static final int STATE = 1;

  /** Bit 1, IB_QP_CUR_STATE. */
  public static final int CUR_STATE = 1 << 1;

  /** Bit 2, IB_QP_EN_SQD_ASYNC_NOTIFY. */
  public static final int EN_SQD_ASYNC_NOTIFY = 1 << 2;

  /** Bit 3, IB_QP_ACCESS_FLAGS. */
  public static final int ACCESS_FLAGS = 1 << 3;

  /** Bit 4, IB_QP_PKEY_INDEX. */
  public static final int PKEY_INDEX = 1 << 4;

  /** Bit 5, IB_QP_PORT. */
  public static final int PORT = 1 << 5;

  /** Bit 6, IB_QP_QKEY. */
  public static final int QKEY = 1 << 6;

  /** Bit 7, IB_QP_AV: the address vector, table A1-4. */
  public static final int AV = 1 << 7;

  /** Bit 8, IB_QP_PATH_MTU. */
  public static final int PATH_MTU = 1 << 8;

  /** Bit 9, IB_QP_TIMEOUT. */
  public static final int TIMEOUT = 1 << 9;

  /** Bit 10, IB_QP_RETRY_CNT. */
  public static final int RETRY_CNT = 1 << 10;

  /** Bit 11, IB_QP_RNR_RETRY. */
  public static final int RNR_RETRY = 1 << 11;

  /** Bit 12, IB_QP_RQ_PSN. */
  public static final int RQ_PSN = 1 << 12;

  /** Bit 13, IB_QP_MAX_QP_RD_ATOMIC. */
  public static final int MAX_QP_RD_ATOMIC = 1 << 13;

  /** Bit 14, IB_QP_ALT_PATH. */
  public static final int ALT_PATH = 1 << 14;

  /** Bit 15, IB_QP_MIN_RNR_TIMER. */
  public static final int MIN_RNR_TIMER = 1 << 15;

  /** Bit 16, IB_QP_SQ_PSN. */
  public static final int SQ_PSN = 1 << 16;

  /** Bit 17, IB_QP_MAX_DEST_RD_ATOMIC. */
  public static final int MAX_DEST_RD_ATOMIC = 1 << 17;

  /** Bit 18, IB_QP_PATH_MIG_STATE. */
  public static final int PATH_MIG_STATE = 1 << 18;

  /** Bit 19, IB_QP_CAP. */
  public static final int CAP = 1 << 19;

  /** Bit 20, IB_QP_DEST_QPN. */
  public static final int DEST_QPN = 1 << 20;

  private OptParamMask() {}
}
