package org.hghca.abi;

import java.util.Arrays;

/**
 * Reasons in an error CQE.
 *
 * <p>Source: interface document, second table 3-3-3.
 */
public enum Syndrome {
  /**
   * A reason that is not in the table: any code outside it, and 0, which the RTL writes for every
   * error on RC.
   */
  UNKNOWN(0x00),
  /** The local message is longer than the buffers or than the service allows. */
  LOCAL_LENGTH_ERR(0x01),
  /** The QP cannot execute this request. */
  LOCAL_QP_OP_ERR(0x02),
  /** The EE context cannot execute this request. */
  LOCAL_EEC_OP_ERR(0x03),
  /** Local key, protection domain, bounds or access do not allow the request. */
  LOCAL_PROT_ERR(0x04),
  /** The request was outstanding when the QP went to ERR. */
  WR_FLUSH_ERR(0x05),
  /** A memory window could not be bound. */
  MW_BIND_ERR(0x06),
  /** The responder answered with an unexpected opcode. */
  BAD_RESP_ERR(0x10),
  /** Writing incoming data to local memory failed. */
  LOCAL_ACCESS_ERR(0x11),
  /** The responder found the message invalid, for example too long for its receive buffer. */
  REMOTE_INVAL_REQ_ERR(0x12),
  /** The responder's key, protection domain, bounds or access do not allow the request. */
  REMOTE_ACCESS_ERR(0x13),
  /** The responder could not complete the request. */
  REMOTE_OP_ERR(0x14),
  /** No answer within the retries. */
  RETRY_EXC_ERR(0x15),
  /** The responder had no receive posted within the RNR retries. */
  RNR_RETRY_EXC_ERR(0x16),
  /** Reliable datagram: domain violation at the requester. */
  LOCAL_RDD_VIOL_ERR(0x20),
  /** Reliable datagram: the responder found the request invalid. */
  REMOTE_INVAL_RD_REQ_ERR(0x21),
  /** The responder aborted the operation. */
  REMOTE_ABORTED_ERR(0x22),
  /** The EE context number is invalid. */
  INVAL_EECN_ERR(0x23),
  /** The EE context is in the wrong state. */
  INVAL_EEC_STATE_ERR(0x24);

  private static final Syndrome[] BY_CODE = byCode();

  private final int code;

  Syndrome(int code) {
    this.code = code;
  }

  /** The value in 10h[7:0] of an error CQE. */
  public int code() {
    return code;
  }

  /** The syndrome with this code, {@link #UNKNOWN} for a code that is not in the table. */
  public static Syndrome of(int code) {
    return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : UNKNOWN;
  }

  private static Syndrome[] byCode() {
    var table = new Syndrome[INVAL_EEC_STATE_ERR.code + 1];
    Arrays.fill(table, UNKNOWN);
    for (Syndrome syndrome : values()) {
      table[syndrome.code] = syndrome;
    }
    return table;
  }
}
