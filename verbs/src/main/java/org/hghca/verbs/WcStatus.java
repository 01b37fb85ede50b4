package org.hghca.verbs;

/** How a work request ended: the numbers and texts of {@code ibv_wc_status}. */
public enum WcStatus {
  SUCCESS("success"),
  LOC_LEN_ERR("local length error"),
  LOC_QP_OP_ERR("local QP operation error"),
  LOC_EEC_OP_ERR("local EE context operation error"),
  LOC_PROT_ERR("local protection error"),
  WR_FLUSH_ERR("Work Request Flushed Error"),
  MW_BIND_ERR("memory management operation error"),
  BAD_RESP_ERR("bad response error"),
  LOC_ACCESS_ERR("local access error"),
  REM_INV_REQ_ERR("remote invalid request error"),
  REM_ACCESS_ERR("remote access error"),
  REM_OP_ERR("remote operation error"),
  RETRY_EXC_ERR("transport retry counter exceeded"),
  RNR_RETRY_EXC_ERR("RNR retry counter exceeded"),
  LOC_RDD_VIOL_ERR("local RDD violation error"),
  REM_INV_RD_REQ_ERR("remote invalid RD request"),
  REM_ABORT_ERR("aborted error"),
  INV_EECN_ERR("invalid EE context number"),
  INV_EEC_STATE_ERR("invalid EE context state"),
  FATAL_ERR("fatal error"),
  RESP_TIMEOUT_ERR("response timeout error"),
  GENERAL_ERR("general error");

  private static final WcStatus[] VALUES = values();

  private final String text;

  WcStatus(String text) {
    this.text = text;
  }

  /** The number in libibverbs. */
  public int code() {
    return ordinal();
  }

  /** The text of {@code ibv_wc_status_str}. */
  public String text() {
    return text;
  }

  /**
   * The status with a number of libibverbs.
   *
   * @throws IllegalArgumentException when there is none
   */
  public static WcStatus of(int code) {
    if (code < 0 || code >= VALUES.length) {
      throw new IllegalArgumentException("no completion status " + code);
    }
    return VALUES[code];
  }
}
