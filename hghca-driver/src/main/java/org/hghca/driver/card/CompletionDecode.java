package org.hghca.driver.card;

import org.hghca.abi.BthOpcode;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.WqeOpcode;
import org.hghca.verbs.Completions;

/**
 * What the dwords of a completion mean on a card, where the readings of the card differ (tables
 * 3-3-2 and 3-3-4). That one is there is told by the owner byte, which is the sentinel no more: the
 * first RTL writes 00h, the second 80h. Immutable.
 */
public final class CompletionDecode {
  private final boolean keepsOpcode;
  private final boolean receiveErrors;
  private final boolean plain;
  private final boolean zerosBreak;
  private final int immediateFlag;

  public CompletionDecode(HardwareProfile profile) {
    this.keepsOpcode = profile.errorCqes() && !profile.errorCqeHasSyndrome();
    this.receiveErrors = profile.flushesInHardware();
    this.plain = profile.flushesInHardware() && profile.immediateDelivered() && profile.grhPlaced();
    this.zerosBreak = !profile.zeroLength();
    this.immediateFlag = profile.immediateDelivered() ? Completions.WITH_IMM : 0;
  }

  /** Whether all is as the document has it, so that there is nothing to ask here of a receive. */
  public boolean isPlain() {
    return plain;
  }

  /**
   * Whether a completion that is marked neither as an error nor as of a send is both: the first RTL
   * keeps the opcode of a UC or UD request that failed. No receive has such an opcode, or it is
   * that of an RDMA WRITE with immediate, of which a receive tells source and length.
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

  /** Whether an error may be of a receive; the RTL reports those of sends only. */
  public boolean reportsReceiveErrors() {
    return receiveErrors;
  }

  /**
   * Whether a completion of zeros is the mark of a message of no bytes that has broken the card.
   */
  public boolean zerosBreak() {
    return zerosBreak;
  }

  /**
   * The syndrome of an error, 0 when the card does not say why: RC on the first RTL.
   *
   * @param cause dword 10h
   */
  public static int syndrome(int cause) {
    int syndrome = cause & 0xff;
    return syndrome != 0 ? syndrome : cause >>> 24;
  }

  /** What to tell of a receive's immediate: nothing where the card keeps it. */
  public int immediateFlags(int opcode) {
    return BthOpcode.hasImmediate(opcode) ? immediateFlag : 0;
  }
}
