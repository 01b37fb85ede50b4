package org.hghca.virtio.abi.roce;

/**
 * Statuses of a {@link CompletionEntry}. From {@link #LOC_PROT_ERR} on, the numbers are not those
 * of libibverbs.
 */
public final class CompletionStatus {
  /** Success. */
  public static final int SUCCESS = 0;

  /** Local length error. */
  public static final int LOC_LEN_ERR = 1;

  /** Local operation error of the queue pair. */
  public static final int LOC_QP_OP_ERR = 2;

  /** Local protection error. */
  public static final int LOC_PROT_ERR = 3;

  /** Flushed. */
  public static final int WR_FLUSH_ERR = 4;

  /** Bad response. */
  public static final int BAD_RESP_ERR = 5;

  /** Local access error. */
  public static final int LOC_ACCESS_ERR = 6;

  /** Invalid request for the other side. */
  public static final int REM_INV_REQ_ERR = 7;

  /** Access error at the other side. */
  public static final int REM_ACCESS_ERR = 8;

  /** Operation error at the other side. */
  public static final int REM_OP_ERR = 9;

  /** Retries exhausted. */
  public static final int RETRY_EXC_ERR = 10;

  /** Retries after receiver not ready exhausted. */
  public static final int RNR_RETRY_EXC_ERR = 11;

  /** Aborted by the other side. */
  public static final int REM_ABORT_ERR = 12;

  /** Fatal error. */
  public static final int FATAL_ERR = 13;

  /** Time-out of a response. */
  public static final int RESP_TIMEOUT_ERR = 14;

  /** Any other error. */
  public static final int GENERAL_ERR = 15;

  private CompletionStatus() {}
}
