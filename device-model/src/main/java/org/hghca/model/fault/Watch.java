package org.hghca.model.fault;

import java.lang.foreign.MemorySegment;

/**
 * Follows what the driver tells the card, so that the purpose of each access to host memory is
 * known. Thread-safe.
 */
interface Watch {
  /** The driver is about to write a register. */
  void writing(int bar, long offset, int width, long value);

  /** The driver has read a register, and the card has answered this. */
  void hasRead(int bar, long offset, long value);

  /** The card has read from host memory. */
  void fetched(long iova, MemorySegment to, long offset, long length);

  /** What the card uses some host memory for. */
  Place place(long iova, boolean written);

  /** Whether a register tells the card that there is work. */
  boolean isDoorbell(int bar, long offset);

  /** Whether a register write tells the card that there are requests to send. */
  boolean isSendDoorbell(int bar, long offset, int width, long value);

  /**
   * Where a page of some payload is instead, if it is one of some pages of a region.
   *
   * @param first number of the first of them in the region
   * @param end number of the first that is none of them
   * @param back how many pages before it the page is that is used instead
   * @return the same address where it is another page
   */
  default long misplaced(long iova, int first, int end, int back) {
    return iova;
  }

  /**
   * Where some payload would be, if the pages of its region followed one another.
   *
   * @return the same address where they do
   */
  default long contiguous(long iova) {
    return iova;
  }

  /**
   * Where some payload would be, if no MTT entry were overwritten.
   *
   * @return the same address where its entry was not
   */
  default long firstPage(long iova) {
    return iova;
  }

  /**
   * Where some payload would be, if each MPT entry kept the MTT entries of its first region.
   *
   * @return the same address where it does
   */
  default long firstRegion(long iova) {
    return iova;
  }

  /**
   * Where a page of the card's context memory is instead, if it is the second one of a pair.
   *
   * @return the same address where it is the first one
   */
  default long alias(long iova) {
    return iova;
  }

  /** The card is reset. */
  void reset();
}
