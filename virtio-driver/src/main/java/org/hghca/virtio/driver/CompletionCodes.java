package org.hghca.virtio.driver;

import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;
import org.hghca.virtio.abi.roce.CompletionEntry;
import org.hghca.virtio.abi.roce.CompletionStatus;

/** The codes of a completion, which are not those of libibverbs. */
final class CompletionCodes {
  private static final byte[] STATUSES = new byte[CompletionStatus.GENERAL_ERR + 1];

  static {
    status(CompletionStatus.SUCCESS, WcStatus.SUCCESS);
    status(CompletionStatus.LOC_LEN_ERR, WcStatus.LOC_LEN_ERR);
    status(CompletionStatus.LOC_QP_OP_ERR, WcStatus.LOC_QP_OP_ERR);
    status(CompletionStatus.LOC_PROT_ERR, WcStatus.LOC_PROT_ERR);
    status(CompletionStatus.WR_FLUSH_ERR, WcStatus.WR_FLUSH_ERR);
    status(CompletionStatus.BAD_RESP_ERR, WcStatus.BAD_RESP_ERR);
    status(CompletionStatus.LOC_ACCESS_ERR, WcStatus.LOC_ACCESS_ERR);
    status(CompletionStatus.REM_INV_REQ_ERR, WcStatus.REM_INV_REQ_ERR);
    status(CompletionStatus.REM_ACCESS_ERR, WcStatus.REM_ACCESS_ERR);
    status(CompletionStatus.REM_OP_ERR, WcStatus.REM_OP_ERR);
    status(CompletionStatus.RETRY_EXC_ERR, WcStatus.RETRY_EXC_ERR);
    status(CompletionStatus.RNR_RETRY_EXC_ERR, WcStatus.RNR_RETRY_EXC_ERR);
    status(CompletionStatus.REM_ABORT_ERR, WcStatus.REM_ABORT_ERR);
    status(CompletionStatus.FATAL_ERR, WcStatus.FATAL_ERR);
    status(CompletionStatus.RESP_TIMEOUT_ERR, WcStatus.RESP_TIMEOUT_ERR);
    status(CompletionStatus.GENERAL_ERR, WcStatus.GENERAL_ERR);
  }

  private CompletionCodes() {}

  private static void status(int code, WcStatus status) {
    STATUSES[code] = (byte) status.code();
  }

  /** The code of a {@link WcStatus}; GENERAL_ERR for one that does not exist. */
  static int status(int code) {
    return code < STATUSES.length ? STATUSES[code] : WcStatus.GENERAL_ERR.code();
  }

  /**
   * The code of a {@link WcOpcode}. The direction is that of the request: after an error, a device
   * may report another.
   */
  static int opcode(int code, boolean isReceive) {
    if (isReceive) {
      return code == CompletionEntry.RECV_RDMA_WITH_IMM
          ? WcOpcode.RECV_RDMA_WITH_IMM.code()
          : WcOpcode.RECV.code();
    }
    return code <= CompletionEntry.RDMA_READ ? code : WcOpcode.SEND.code();
  }
}
