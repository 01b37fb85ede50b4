package org.hghca.model.fault;

/** The ring of a completion queue or event queue in host memory. */
final class Ring {
  /** Bytes of an entry of either. */
  static final int ENTRY = 32;

  private static final int PAGE = 4096;

  final Use use;
  final int number;
  private final int entries;
  private final long[] pages;

  /** Where the first entry is in the first page. */
  private final int first;

  /** How many entries the card's own position is behind: those that were written twice. */
  private int behind;

  private int last = -1;
  private boolean turned;

  /**
   * @param pages bus addresses of the pages that hold it
   * @param first offset of its first entry in the first page
   */
  Ring(Use use, int number, int entries, long[] pages, int first) {
    this.use = use;
    this.number = number;
    this.entries = entries;
    this.pages = pages.clone();
    this.first = first;
  }

  /** The pages that hold it. */
  long[] pages() {
    return pages.clone();
  }

  /** The offset of a bus address in the ring; -1 when it is outside. */
  long offset(long iova) {
    for (int i = 0; i < pages.length; i++) {
      if (pages[i] == (iova & -PAGE)) {
        long offset = (long) i * PAGE + (iova & PAGE - 1) - first;
        if (offset >= 0 && offset < (long) entries * ENTRY) {
          return offset;
        }
      }
    }
    return -1;
  }

  /** The bus address of an offset, which goes on behind the ring at its beginning. */
  private long at(long offset) {
    long at = first + offset % ((long) entries * ENTRY);
    return pages[(int) (at / PAGE)] + at % PAGE;
  }

  /** Where an access goes when the entries that were written twice are taken into account. */
  long moved(long iova) {
    return behind == 0 ? iova : at(offset(iova) + (long) behind * ENTRY);
  }

  /** The entry that is written next is one further. */
  void skip() {
    behind = (behind + 1) % entries;
  }

  /** Notes that the card writes an entry; returns whether it has begun again at the first one. */
  boolean hasTurned(long iova) {
    int index = (int) (offset(iova) / ENTRY);
    turned |= index < last;
    last = index;
    return turned;
  }
}
