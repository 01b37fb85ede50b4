package org.hghca.model.hca;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.hghca.vfio.DmaWindow;

/**
 * The pages of registered memory, by their entries in the MTT: an entry is read in place at each
 * access, and the window to its page is looked up once for as long as the entry and the mappings
 * stay.
 */
final class PageWindows {
  /** An entry of the MTT: the address of a page, whose low bits do not count. */
  static final ValueLayout.OfLong ADDRESS =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private static final int SLOTS = 1024;
  private static final long PAGE_MASK = Icm.PAGE_SIZE - 1;

  private static final class Page {
    long index = -1;
    long epoch;
    MemorySegment entry;
    long iova;
    DmaWindow window;
  }

  private final HostMemory host;
  private final Icm icm;

  /** By the low bits of the entries' indices. */
  private final Page[] pages = new Page[SLOTS];

  PageWindows(HostMemory host, Icm icm) {
    this.host = host;
    this.icm = icm;
    for (int i = 0; i < SLOTS; i++) {
      pages[i] = new Page();
    }
  }

  /**
   * Moves bytes between a packet and one page.
   *
   * @param index of the page's entry in the MTT
   * @return false when nothing was moved, as that needs calls of the bus
   */
  boolean move(
      long index, int inPage, MemorySegment packet, long offset, int size, boolean toHost) {
    Page page = find(index, inPage);
    if (page == null) {
      return false;
    }
    long iova = page.iova + inPage;
    if (!page.window.holds(iova, size)) {
      return false;
    }
    return toHost
        ? HostMemory.write(page.window, iova, packet, offset, size)
        : HostMemory.read(page.window, iova, packet, offset, size);
  }

  private Page find(long index, int inPage) {
    if (!host.isDirect()) {
      return null;
    }
    Page page = pages[(int) index & SLOTS - 1];
    try {
      return page.index == index
              && page.epoch == host.epoch() + icm.epoch()
              && (page.entry.get(ADDRESS, 0) & ~PAGE_MASK) == page.iova
          ? page
          : fill(page, index, inPage);
    } catch (IllegalStateException e) {
      return null; // the table's memory has gone
    }
  }

  private Page fill(Page page, long index, int inPage) {
    page.index = -1;
    long at = icm.page(index);
    DmaWindow table = at == Icm.NONE ? null : host.window(at, TranslationTables.MTT_ENTRY);
    if (table == null) {
      return null;
    }
    page.entry = table.memory().asSlice(at - table.iova(), TranslationTables.MTT_ENTRY);
    page.iova = page.entry.get(ADDRESS, 0) & ~PAGE_MASK;
    page.window = host.window(page.iova + inPage, 1);
    if (page.window == null) {
      return null;
    }
    page.epoch = host.epoch() + icm.epoch();
    page.index = index;
    return page;
  }
}
