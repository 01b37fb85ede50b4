package org.hghca.driver.card;

import org.hghca.verbs.WcStatus;

/** The error codes in the card's completions (second table 3-3-3), and their verbs status. */
public final class CompletionStatus {

  private CompletionStatus() {}

  /**
   * The syndrome of an error (table 3-3-4).
   *
   * @param cause dword 10h
   */
  public static int syndrome(int cause) {
    return cause & 0xff;
  }

  /** The status of a syndrome; GENERAL_ERR for a code that the table lacks. */
  public static WcStatus of(int syndrome) {
    return switch (syndrome) {
      case 0x01 -> WcStatus.LOC_LEN_ERR;
      case 0x02 -> WcStatus.LOC_QP_OP_ERR;
      case 0x03 -> WcStatus.LOC_EEC_OP_ERR;
      case 0x04 -> WcStatus.LOC_PROT_ERR;
      case 0x05 -> WcStatus.WR_FLUSH_ERR;
      case 0x06 -> WcStatus.MW_BIND_ERR;
      case 0x10 -> WcStatus.BAD_RESP_ERR;
      case 0x11 -> WcStatus.LOC_ACCESS_ERR;
      case 0x12 -> WcStatus.REM_INV_REQ_ERR;
      case 0x13 -> WcStatus.REM_ACCESS_ERR;
      case 0x14 -> WcStatus.REM_OP_ERR;
      case 0x15 -> WcStatus.RETRY_EXC_ERR;
      case 0x16 -> WcStatus.RNR_RETRY_EXC_ERR;
      case 0x20 -> WcStatus.LOC_RDD_VIOL_ERR;
      case 0x21 -> WcStatus.REM_INV_RD_REQ_ERR;
      case 0x22 -> WcStatus.REM_ABORT_ERR;
      case 0x23 -> WcStatus.INV_EECN_ERR;
      case 0x24 -> WcStatus.INV_EEC_STATE_ERR;
      default -> WcStatus.GENERAL_ERR;
    };
  }
}
