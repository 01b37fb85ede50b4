package org.hghca.model.rtl;

import java.util.Arrays;

/**
 * The card's map of one table in interconnect context memory: the bus addresses of a fixed number
 * of pages. Page numbers count from the table's base and wrap at the capacity, so that a mapping
 * beyond the end replaces one at the beginning.
 */
public final class IcmTableMap {
  /** What {@link #address} answers for a page that is not mapped. */
  static final long NONE = -1;

  static final int PAGE_SHIFT = 12;
  static final int PAGE_SIZE = 1 << PAGE_SHIFT;
  public static final int PAGE_MASK = PAGE_SIZE - 1;

  private final long[] pages;
  private long base;
  private long size;

  /**
   * @param capacity pages, a power of two
   */
  IcmTableMap(int capacity) {
    pages = new long[capacity];
    Arrays.fill(pages, NONE);
  }

  /** Sets the table's address in ICM. The map stays: it is relative to the base. */
  void base(long address) {
    base = address;
  }

  long base() {
    return base;
  }

  /** Sets the table's length in bytes, which only {@link #holds} uses. */
  void size(long bytes) {
    size = bytes;
  }

  /** Whether an address in ICM is the table's by its base and length. */
  boolean holds(long virtual) {
    return Long.compareUnsigned(virtual - base, size) < 0;
  }

  int capacity() {
    return pages.length;
  }

  /** Maps pages that follow each other in ICM and on the bus. */
  void map(long virtual, long bus, int count) {
    for (int i = 0; i < count; i++) {
      pages[place(virtual - base) + i & pages.length - 1] = bus + (long) i * PAGE_SIZE;
    }
  }

  /** Unmaps pages; only the bits of their number within the capacity are used. */
  void unmap(long virtual, int count) {
    int unmapped = pages.length == 1 ? Math.min(count, 1) : count & pages.length - 1;
    for (int i = 0; i < unmapped; i++) {
      pages[place(virtual - base) + i & pages.length - 1] = NONE;
    }
  }

  private int place(long offset) {
    return (int) (offset >>> PAGE_SHIFT) & pages.length - 1;
  }

  /** The bus address of a byte of the table, {@link #NONE} where its page is not mapped. */
  long address(long offset) {
    long page = pages[place(offset)];
    return page == NONE ? NONE : page + (offset & PAGE_MASK);
  }

  int mappedPages() {
    return (int) Arrays.stream(pages).filter(page -> page != NONE).count();
  }

  /** Clears the base and all pages. */
  void close() {
    base = 0;
    size = 0;
    Arrays.fill(pages, NONE);
  }
}
