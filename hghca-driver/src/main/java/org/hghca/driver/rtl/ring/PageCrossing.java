package org.hghca.driver.rtl.ring;

/**
 * The transfers that stop the makers' RTL: its data-write channel waits indefinitely after a packet
 * whose bytes for one element lie on both sides of a page end, {@code l1} before and {@code l2}
 * behind it, when {@code l1 % 32 != 0} and {@code l1 % 32 + l2 < 32}; at exactly 32 the last bytes
 * stay in the card until another packet arrives.
 *
 * <p>Where a packet starts at a multiple of 32, {@code l1 % 32} is 0 and nothing can happen.
 * Packets are of 2^{@code mtuLog} bytes, at least 256, except the last.
 */
public final class PageCrossing {
  private static final int PAGE = 4096;
  private static final int BEAT = 32;

  private PageCrossing() {}

  /**
   * Whether one of the packets of a message to one address stops the card.
   *
   * @param length at least 1
   * @param mtuLog 8 to 12
   */
  public static boolean strikes(long address, long length, int mtuLog) {
    int odd = (int) address & BEAT - 1;
    int inPage = (int) address & PAGE - 1;
    return odd != 0 && inPage + length > PAGE && strikes(inPage, odd, length, mtuLog);
  }

  private static boolean strikes(int inPage, int odd, long length, int mtuLog) {
    // After the page end, a full packet has its start offset modulo 32 bytes, plus a multiple of
    // 32, because packets and pages are multiples of 32: it stops the card with exactly that many.
    int mtu = 1 << mtuLog;
    int toPageEnd = PAGE - (inPage - odd);
    long fullPackets = length >>> mtuLog;
    if ((toPageEnd & mtu - 1) == 0 && fullPackets >= toPageEnd >>> mtuLog) {
      return true;
    }
    int last = (int) length & mtu - 1;
    int start = (int) (inPage + (fullPackets << mtuLog)) & PAGE - 1;
    int behind = start + last - PAGE;
    return behind > 0 && behind <= odd;
  }

  /** Whether a range crosses a page end. */
  public static boolean crosses(long address, long length) {
    return ((int) address & PAGE - 1) + length > PAGE;
  }

  /**
   * Whether one of several elements, or one for messages of any length, may stop the card: it
   * crosses a page end, and packets may start in it at other offsets than multiples of 32.
   *
   * @param before number of bytes in earlier elements
   */
  public static boolean mayStrike(long address, long length, long before) {
    return crosses(address, length) && ((address | before) & BEAT - 1) != 0;
  }
}
