package org.hghca.model.hca;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.hghca.model.card.HostMemory;
import org.hghca.vfio.DmaWindow;
import org.hghca.wire.MemoryPieces;

/**
 * The pages of registered memory, by their entries in the MTT: an entry is read in place at each
 * access, and the window to its page is looked up once for as long as the entry and the mappings
 * stay.
 */
final class PageWindows {
  /** Bytes of an entry of the MTT. */
  static final int ENTRY = 8;

  /** An entry of the MTT: the address of a page, whose low bits do not count. */
  static final ValueLayout.OfLong ADDRESS =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private static final int SLOTS = 1024;
  private static final long PAGE_MASK = Icm.PAGE_SIZE - 1;

  private static final class Page {
    long index;
    long epoch = Region.NEVER;

    /** The memory that the entry is in, its I/O address, and that of the entry. */
    MemorySegment table;

    long tableIova;
    long entry;
    long iova;
    DmaWindow window;

    /** Reads the entry. */
    long read() {
      return table.get(ADDRESS, entry - tableIova);
    }

    /** Whether an entry behind that of this page, in the same page of the MTT, is of an address. */
    boolean isFollowed(long by, long address) {
      return by % Icm.PAGE_SIZE != 0
          && by - tableIova <= table.byteSize() - ENTRY
          && (table.get(ADDRESS, by - tableIova) & ~PAGE_MASK) == address;
    }
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
        ? page.window.access().writable()
            && HostMemory.write(page.window, iova, packet, offset, size)
        : HostMemory.read(page.window, iova, packet, offset, size);
  }

  /**
   * Adds bytes to others: from a page on, as many as follow one another there and in the MTT.
   *
   * @param index of the page's entry in the MTT
   * @param most number of bytes
   * @param toHost whether they are to be written
   * @return number of bytes, 0 when they must be accessed by calls of the bus
   */
  int locate(long index, int inPage, int most, boolean toHost, MemoryPieces into) {
    Page page = find(index, inPage);
    if (page == null || toHost && !page.window.access().writable()) {
      return 0;
    }
    DmaWindow window = page.window;
    int size = Icm.PAGE_SIZE - inPage;
    long entry = page.entry;
    long next = page.iova;
    while (size < most) {
      entry += ENTRY;
      next += Icm.PAGE_SIZE;
      if (!window.holds(next, Icm.PAGE_SIZE) || !page.isFollowed(entry, next)) {
        break;
      }
      size += Icm.PAGE_SIZE;
    }
    size = Math.min(size, most);
    long iova = page.iova + inPage;
    if (!window.holds(iova, size)) {
      return 0;
    }
    into.add(window.memory(), iova - window.iova(), size, HostMemory.kind(window));
    return size;
  }

  /**
   * Adds the pages of some bytes to the stretch of a region.
   *
   * @return whether that has the bytes now: not when the pages do not follow one another in one
   *     window, or must be accessed by calls of the bus
   */
  boolean stretch(Region region, long address, int size) {
    int inPage = (int) (address & PAGE_MASK);
    long bytes = (long) inPage + size;
    long begin = address - inPage;
    for (long done = 0; done < bytes; ) {
      Page page = find(region.page(begin + done), done == 0 ? inPage : 0);
      if (page == null) {
        return false;
      }
      long found = followed(page, bytes - done);
      region.add(page.window, begin + done, page.iova, found);
      done += found;
      if (!region.reaches(address, (int) (Math.min(done, bytes) - inPage))) {
        return false;
      }
    }
    return true;
  }

  /** Bytes from a page on, at least so many if the entries in its page of the MTT have them. */
  private static long followed(Page page, long wanted) {
    long found = Icm.PAGE_SIZE;
    long entry = page.entry;
    while (found < wanted) {
      entry += ENTRY;
      if (!page.isFollowed(entry, page.iova + found)) {
        break;
      }
      found += Icm.PAGE_SIZE;
    }
    return found;
  }

  private Page find(long index, int inPage) {
    Page page = pages[(int) index & SLOTS - 1];
    try {
      return page.index == index
              && page.epoch == host.current()
              && (page.read() & ~PAGE_MASK) == page.iova
          ? page
          : fill(page, index, inPage);
    } catch (IllegalStateException e) {
      return null; // the table's memory has gone
    }
  }

  private Page fill(Page page, long index, int inPage) {
    page.epoch = Region.NEVER;
    long at = icm.page(index);
    DmaWindow table = at == Icm.NONE ? null : host.window(at, ENTRY);
    if (table == null) {
      return null;
    }
    page.table = table.memory();
    page.tableIova = table.iova();
    page.entry = at;
    page.iova = page.read() & ~PAGE_MASK;
    page.window = host.window(page.iova + inPage, 1);
    if (page.window == null) {
      return null;
    }
    page.epoch = host.epoch();
    page.index = index;
    return page;
  }
}
