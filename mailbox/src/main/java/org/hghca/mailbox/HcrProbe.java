package org.hghca.mailbox;

import org.hghca.abi.Hcr;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;

/**
 * The result of probing an offset in BAR0 for an HCR: there is one if it is free and its token
 * register keeps the written value. Aligned 32-bit accesses only, and no store unless it is free.
 *
 * @param base offset in BAR0
 * @param command the dword at 18h, 0 when it was not read
 * @param written the value last written to the token register, 0 if none was written
 * @param read the value read back
 */
public record HcrProbe(long base, Finding finding, int command, int written, int read) {
  private static final int[] TOKENS = {0x5aa5, 0xa55a};

  /** The result at one offset. */
  public enum Finding {
    /** A free HCR. */
    HCR,

    /** The region ends before it; no register was accessed. */
    OUTSIDE,

    /** All ones: the device is gone, or nothing responds there. */
    ALL_ONES,

    /** The go bit is set: an HCR with a command in progress or a hung command, or no HCR. */
    BUSY,

    /** No token register: it does not keep a written value. */
    NO_TOKEN
  }

  /**
   * Probes an offset. The card must decode memory; it need not be bus master.
   *
   * @param base offset in BAR0, a multiple of 4
   */
  public static HcrProbe at(PciFunction function, long base) {
    MmioRegion registers = function.region(0);
    if (base < 0 || base > registers.size() - Hcr.SIZE) {
      return new HcrProbe(base, Finding.OUTSIDE, 0, 0, 0);
    }
    int command = registers.readInt(base + Hcr.COMMAND);
    if (command == -1) {
      return new HcrProbe(base, Finding.ALL_ONES, command, 0, 0);
    }
    if (Hcr.go(command)) {
      return new HcrProbe(base, Finding.BUSY, command, 0, 0);
    }
    int written = 0;
    int read = 0;
    for (int token : TOKENS) {
      written = Hcr.tokenRegister(token);
      registers.writeInt(base + Hcr.TOKEN, written);
      read = registers.readInt(base + Hcr.TOKEN);
      if (read != written) {
        Finding finding = read == -1 ? Finding.ALL_ONES : Finding.NO_TOKEN;
        return new HcrProbe(base, finding, command, written, read);
      }
    }
    return new HcrProbe(base, Finding.HCR, command, written, read);
  }

  public boolean isHcr() {
    return finding == Finding.HCR;
  }

  /** The result, as the end of a sentence about the offset. */
  public String describe() {
    return switch (finding) {
      case HCR -> "is a free HCR";
      case OUTSIDE -> "lies outside its region";
      case ALL_ONES -> "reads all ones: the card is gone, or nothing answers there";
      case BUSY ->
          ("has a command in progress that this driver did not issue (dword 0x18 is 0x%08x): it is"
                  + " busy or hung, reset the card")
              .formatted(command);
      case NO_TOKEN ->
          ("is not an HCR: its token register got 0x%08x and reads 0x%08x (dword 0x18 is"
                  + " 0x%08x)")
              .formatted(written, read, command);
    };
  }
}
