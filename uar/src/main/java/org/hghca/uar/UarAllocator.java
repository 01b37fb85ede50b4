package org.hghca.uar;

import java.util.BitSet;
import org.hghca.abi.Bar;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.trace.DeviceTrace;

/**
 * Hands out the UAR pages of a card, one to each context. Thread-safe.
 *
 * <p>The region is only ever written: a card may leave a read without an answer, until the
 * completion time-out of the PCIe root port.
 */
public final class UarAllocator {
  private final PciFunction function;
  private final MmioRegion region;
  private final DeviceTrace trace;
  private final int pages;
  private final BitSet used = new BitSet();

  private UarAllocator(PciFunction function, MmioRegion region, int pages) {
    this.function = function;
    this.region = region;
    this.trace = function.trace().orElse(null);
    this.pages = pages;
  }

  /**
   * The UAR pages of a function: 2048 (interface document, 3.1.2), or fewer if its region is
   * shorter.
   *
   * @throws VfioException {@code INVALID} when the function has no region for them
   */
  public static UarAllocator open(PciFunction function) {
    MmioRegion region = function.region(Bar.BAR2);
    int pages = (int) Math.min(Bar.UAR_PAGES, region.size() / Bar.UAR_PAGE_SIZE);
    if (pages == 0) {
      throw new VfioException(
          Reason.INVALID,
          "BAR%d of %s has %d bytes, less than one UAR page: is it an HCA?"
              .formatted(Bar.BAR2, function.locator(), region.size()));
    }
    return new UarAllocator(function, region, pages);
  }

  /**
   * Takes the lowest free page.
   *
   * @throws VfioException {@code NO_MEMORY} when every page is taken
   */
  public synchronized UarPage allocate() {
    int index = used.nextClearBit(0);
    if (index >= pages) {
      throw new VfioException(
          Reason.NO_MEMORY,
          "all %d UAR pages of %s are in use: each open context holds one, close some"
              .formatted(pages, function.locator()));
    }
    used.set(index);
    return new UarPage(this, region, trace, index);
  }

  synchronized void free(int index) {
    used.clear(index);
  }

  /** Number of pages, taken or free. */
  public int pages() {
    return pages;
  }

  /** Number of taken pages. */
  public synchronized int allocated() {
    return used.cardinality();
  }
}
