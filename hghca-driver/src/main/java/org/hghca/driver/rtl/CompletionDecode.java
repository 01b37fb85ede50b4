package org.hghca.driver.rtl;

import org.hghca.abi.HardwareProfile;
import org.hghca.abi.WqeOpcode;

/**
 * The meaning of the dwords of a completion, where the RTL differs from tables 3-3-2 and 3-3-4, and
 * the first from the second. An entry is valid when its owner byte is no longer the sentinel: the
 * first writes 00h, the second 80h. Immutable.
 */
public final class CompletionDecode {
  private final boolean keepsOpcode;

  public CompletionDecode(HardwareProfile profile) {
    this.keepsOpcode = profile.errorCqes() && !profile.errorCqeHasSyndrome();
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

  /**
   * The cause of such an error as table 3-3-4 has it: the first RTL puts the syndrome into the
   * highest byte in place of the lowest.
   *
   * @param immediate dword 10h
   */
  public static int cause(int immediate) {
    return (immediate & 0xff) != 0 ? immediate : immediate | immediate >>> 24;
  }
}
