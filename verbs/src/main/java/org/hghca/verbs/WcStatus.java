package org.hghca.verbs;

/** How a work request ended: the numbers and texts of {@code ibv_wc_status}. */
public enum WcStatus {
  SUCCESS(0, "success"),
  LOC_LEN_ERR(1, "local length error"),
  LOC_QP_OP_ERR(2, "local QP operation error"),
  LOC_EEC_OP_ERR(3, "local EE context operation error"),
  LOC_PROT_ERR(4, "local protection error"),
  WR_FLUSH_ERR(5, "Work Request Flushed Error"),
  MW_BIND_ERR(6, "memory management operation error"),
  BAD_RESP_ERR(7, "bad response error"),
  LOC_ACCESS_ERR(8, "local access error"),
  REM_INV_REQ_ERR(9, "remote invalid request error"),
  REM_ACCESS_ERR(10, "remote access error"),
  REM_OP_ERR(11, "remote operation error"),
  RETRY_EXC_ERR(12, "transport retry counter exceeded"),
  RNR_RETRY_EXC_ERR(13, "RNR retry counter exceeded"),
  LOC_RDD_VIOL_ERR(14, "local RDD violation error"),
  REM_INV_RD_REQ_ERR(15, "remote invalid RD request"),
  REM_ABORT_ERR(16, "aborted error"),
  INV_EECN_ERR(17, "invalid EE context number"),
  INV_EEC_STATE_ERR(18, "invalid EE context state"),
  FATAL_ERR(19, "fatal error"),
  RESP_TIMEOUT_ERR(20, "response timeout error"),
  GENERAL_ERR(21, "general error");

  private static final WcStatus[] BY_CODE = new WcStatus[values().length];

  static {
    for (WcStatus status : values()) {
      BY_CODE[status.code] = status;
    }
  }

  private final int code;
  private final String text;

  WcStatus(int code, String text) {
    this.code = code;
    this.text = text;
  }

  /** The number in libibverbs. */
  public int code() {
    return code;
  }

  /** The text of {@code ibv_wc_status_str}. */
  public String text() {
    return text;
  }

  /**
   * The status with a number of libibverbs.
   *
   * @throws VerbsException EINVAL when there is none
   */
  public static WcStatus of(int code) {
    if (code < 0 || code >= BY_CODE.length) {
      throw new VerbsException(
          Errno.EINVAL, "there is no completion status with the number " + code);
    }
    return BY_CODE[code];
  }
}
