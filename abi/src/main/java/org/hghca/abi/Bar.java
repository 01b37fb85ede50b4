package org.hghca.abi;

/**
 * The card's two memory ranges: BAR0 with the command register, BAR2 with the UAR pages.
 *
 * <pre>
 * BAR0, 1 MB   interface document           RTL
 * 00000h       -                            HCR, 28 bytes
 * 00F10h       -                            reset (decoded, not connected)
 * 10000h..9FFFFh must never be accessed, see below
 * 80000h       HCR, 28 bytes                (inside that range)
 * F0010h       reset                        -
 *
 * BAR2, 8 MB   2048 UAR pages of 4 KB; written by 8-byte stores, never read
 * </pre>
 *
 * <p>On the RTL the range 10000h..9FFFFh belongs to an unconnected port: a read is never completed,
 * and the third one blocks every later access to BAR0, including the HCR. So the driver probes for
 * the HCR at 0 first, and at 80000h only if it is not there.
 *
 * <p>Source: interface document, tables 3-1-1 and 3-1-2 and section 3.1.2.
 */
public final class Bar {
  /** Index of the PCI base address register of BAR0. Table 3-1-1. */
  public static final int BAR0 = 0;

  /** Index of the PCI base address register of BAR2. Table 3-1-1. */
  public static final int BAR2 = 2;

  /** Bytes of BAR0: 1 MB. Table 3-1-1. */
  public static final int BAR0_SIZE = 1 << 20;

  /** Bytes of BAR2: 8 MB. Table 3-1-1. */
  public static final int BAR2_SIZE = 8 << 20;

  /** Bytes of a UAR page. Section 3.1.2. */
  public static final int UAR_PAGE_SIZE = 4096;

  /** UAR pages in BAR2: 2048. Section 3.1.2. */
  public static final int UAR_PAGES = BAR2_SIZE / UAR_PAGE_SIZE;

  /** Offset of the HCR in BAR0 according to the document. Table 3-1-2. */
  public static final int HCR_DOCUMENT = 0x80000;

  /**
   * Offset of the reset register in BAR0 according to the document: write 1, little-endian. Table
   * 3-1-2.
   */
  public static final int RESET_DOCUMENT = 0xf0010;

  /** Offset of the HCR in BAR0 on the RTL. */
  public static final int HCR_RTL = 0x00000;

  /** Offset of the reset register in BAR0 on the RTL, where its pulse is not connected. */
  public static final int RESET_RTL = 0x00f10;

  /** First offset in BAR0 that must not be accessed on the RTL. */
  public static final int FORBIDDEN_RTL_FIRST = 0x10000;

  /** Last offset in BAR0 that must not be accessed on the RTL. */
  public static final int FORBIDDEN_RTL_LAST = 0x9ffff;

  private Bar() {}

  /** Offset of a UAR page in BAR2; {@code page} is 0..2047. */
  public static long uarPageOffset(int page) {
    return (long) page * UAR_PAGE_SIZE;
  }
}
