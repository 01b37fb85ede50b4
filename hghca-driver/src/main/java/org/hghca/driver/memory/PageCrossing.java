package org.hghca.driver.memory;

/**
 * Which transfers stop the makers' RTL: its data-write channel waits for ever for a packet whose
 * bytes for one element lie on both sides of a page's end, {@code l1} before and {@code l2} behind
 * it, when {@code l1 % 32 != 0} and {@code l1 % 32 + l2 < 32}; at exactly 32 the last bytes stay in
 * the card until another packet comes.
 *
 * <p>Where a packet starts at a multiple of 32, {@code l1 % 32} is 0 and nothing can happen.
 * Packets are of 2^{@code mtuLog} bytes, at least 256, but the last.
 */
public final class PageCrossing {
  private static final int PAGE = 4096;
  private static final int BEAT = 32;

  private PageCrossing() {}

  /**
   * Whether a message that goes to one place strikes with one of its packets.
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
    // Behind the page's end a full packet, a multiple of 32 as the page is, has as many bytes as
    // its start is odd, more or less multiples of 32: it strikes with exactly that many.
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

  /** Whether a place lies on both sides of a page's end. */
  public static boolean crosses(long address, long length) {
    return ((int) address & PAGE - 1) + length > PAGE;
  }

  /**
   * Whether an element of several, or one that takes messages of any length, may strike: it lies on
   * both sides of a page's end, and packets may start in it elsewhere than at multiples of 32.
   *
   * @param before how many bytes go to the elements before it
   */
  public static boolean mayStrike(long address, long length, long before) {
    return crosses(address, length) && ((address | before) & BEAT - 1) != 0;
  }
}
