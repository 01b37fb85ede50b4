package org.hghca.model.hca;

import java.util.Arrays;

/**
 * A map from page numbers to I/O addresses of pages: open addressing with linear probing, so that a
 * look-up allocates nothing. Used by one thread.
 */
final class PageMap {
  /** What {@link #get} returns for a page that is not mapped. */
  static final long NONE = -1;

  private long[] pages = new long[64];
  private long[] iovas = filled(64);
  private int size;

  private static long[] filled(int length) {
    long[] values = new long[length];
    Arrays.fill(values, NONE);
    return values;
  }

  int size() {
    return size;
  }

  long get(long page) {
    return iovas[find(page)];
  }

  /**
   * @param iova not NONE
   */
  void put(long page, long iova) {
    if (2 * size >= pages.length) {
      grow();
    }
    int at = find(page);
    if (iovas[at] == NONE) {
      size++;
    }
    pages[at] = page;
    iovas[at] = iova;
  }

  void remove(long page) {
    int hole = find(page);
    if (iovas[hole] == NONE) {
      return;
    }
    size--;
    int mask = pages.length - 1;
    for (int at = hole + 1 & mask; iovas[at] != NONE; at = at + 1 & mask) {
      int home = home(pages[at]);
      if ((at - home & mask) >= (at - hole & mask)) {
        pages[hole] = pages[at];
        iovas[hole] = iovas[at];
        hole = at;
      }
    }
    iovas[hole] = NONE;
  }

  void clear() {
    pages = new long[64];
    iovas = filled(64);
    size = 0;
  }

  /** The slot of a page, or the empty slot for it. */
  private int find(long page) {
    int mask = pages.length - 1;
    int at = home(page);
    while (iovas[at] != NONE && pages[at] != page) {
      at = at + 1 & mask;
    }
    return at;
  }

  private int home(long page) {
    long hash = page * 0x9e37_79b9_7f4a_7c15L;
    return (int) (hash >>> 40) & pages.length - 1;
  }

  private void grow() {
    long[] oldPages = pages;
    long[] oldIovas = iovas;
    pages = new long[2 * oldPages.length];
    iovas = filled(2 * oldIovas.length);
    for (int i = 0; i < oldPages.length; i++) {
      if (oldIovas[i] != NONE) {
        int at = find(oldPages[i]);
        pages[at] = oldPages[i];
        iovas[at] = oldIovas[i];
      }
    }
  }
}
