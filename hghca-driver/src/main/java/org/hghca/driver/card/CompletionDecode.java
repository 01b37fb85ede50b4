package org.hghca.driver.card;

import org.hghca.abi.BthOpcode;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.WqeOpcode;
import org.hghca.verbs.Completions;

/**
 * The meaning of the dwords of a completion, where the profiles of the card differ (tables 3-3-2
 * and 3-3-4). An entry is valid when its owner byte is no longer the sentinel: the first RTL writes
 * 00h, the second 80h. Immutable.
 */
public final class CompletionDecode {
  private final boolean keepsOpcode;
  private final boolean receiveErrors;
  private final boolean zerosBreak;
  private final int immediateFlag;

  public CompletionDecode(HardwareProfile profile) {
    this.keepsOpcode = profile.errorCqes() && !profile.errorCqeHasSyndrome();
    this.receiveErrors = profile.flushesInHardware();
    this.zerosBreak = !profile.zeroLength();
    this.immediateFlag = profile.immediateDelivered() ? Completions.WITH_IMM : 0;
  }

  /**
   * Whether a completion that is marked neither as an error nor as of a send is both: the first RTL
   * keeps the opcode of a UC or UD request that failed. No receive has such an opcode, or it is
   * that of an RDMA WRITE with immediate, whose receive has source and length.
   *
   * @param opcode the low byte of the last dword
   * @param sourceQp dword 08h
   * @param bytes dword 14h
   */
  public boolean isSendError(int opcode, int sourceQp, int bytes) {
    if (!keepsOpcode) {
      return false;
    }
    return switch (opcode) {
      case WqeOpcode.RDMA_WRITE, WqeOpcode.SEND, WqeOpcode.RDMA_READ -> true;
      case WqeOpcode.RDMA_WRITE_IMM, WqeOpcode.SEND_IMM -> sourceQp == 0 && bytes == 0;
      default -> false;
    };
  }

  /** Whether an error may belong to a receive; the RTL reports those of sends only. */
  public boolean reportsReceiveErrors() {
    return receiveErrors;
  }

  /**
   * Whether a completion of zeros is the sign of a zero-length message that has broken the card.
   */
  public boolean zerosBreak() {
    return zerosBreak;
  }

  /**
   * The syndrome of an error, 0 when the card gives no reason: RC on the first RTL.
   *
   * @param cause dword 10h
   */
  public static int syndrome(int cause) {
    int syndrome = cause & 0xff;
    return syndrome != 0 ? syndrome : cause >>> 24;
  }

  /** The flags for a receive's immediate: none if the card does not deliver it. */
  public int immediateFlags(int opcode) {
    return BthOpcode.hasImmediate(opcode) ? immediateFlag : 0;
  }
}
