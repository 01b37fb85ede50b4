package org.hghca.vfio.dma;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.RangeAllocator;
import org.hghca.vfio.VfioException;

/**
 * Hands out ranges of a 64-bit I/O address space: page-aligned, never below 64 KiB, freed ranges
 * are reused, lowest address first. Thread-safe.
 */
public final class IovaAllocator {

  /** Lower addresses are never used: some cards send stray DMA to the first pages. */
  static final long LOWEST = 0x1_0000;

  private static final long PAGE = DmaMapping.PAGE_SIZE;

  /** Higher addresses are excluded: this is the last page of the positive signed numbers. */
  private static final long END = Long.MAX_VALUE & -PAGE;

  /** One per usable range, ascending. */
  private final List<RangeAllocator> ranges = new ArrayList<>();

  /** The first address of each, to find the range of an address. */
  private final List<Long> firsts = new ArrayList<>();

  /**
   * An allocator over some ranges, which do not overlap.
   *
   * @param usable ascending; partial pages, addresses below 64 KiB, and addresses close to 2^63 and
   *     above are excluded
   */
  public IovaAllocator(List<IovaRange> usable) {
    for (IovaRange range : usable) {
      long first = first(range);
      long end = end(range);
      if (first < end) {
        ranges.add(new RangeAllocator(first, end, PAGE));
        firsts.add(first);
      }
    }
  }

  private static long first(IovaRange range) {
    return Long.compareUnsigned(range.first(), END) < 0
        ? Math.max(LOWEST, PagePool.wholePages(range.first()))
        : END;
  }

  private static long end(IovaRange range) {
    return Long.compareUnsigned(range.last(), END) < 0 ? range.last() + 1 & -PAGE : END;
  }

  /**
   * Restricts the allocator to addresses that are also in the given ranges.
   *
   * @param usable as for the constructor
   */
  public void restrict(List<IovaRange> usable) {
    long at = 0;
    for (IovaRange range : usable) {
      exclude(at, first(range));
      at = Math.max(at, end(range));
    }
    exclude(at, END);
  }

  private void exclude(long first, long end) {
    ranges.forEach(range -> range.exclude(first, end));
  }

  /**
   * Allocates a range.
   *
   * @param bytes at least 1; rounded up to whole pages
   * @return its first address
   * @throws VfioException {@code NO_MEMORY} when no free range is large enough
   * @throws IllegalArgumentException when bytes is not positive
   */
  public long allocate(long bytes) {
    return allocate(bytes, PAGE, 0);
  }

  /**
   * Allocates a range that starts at the same offset within a larger page as another address, or
   * any range if there is none.
   *
   * @param bytes at least 1; rounded up to whole pages
   * @param largerPage a power of two, at least the page size
   * @param like an address at the start of a page
   * @return its first address, with the same remainder as {@code like} if possible
   * @throws VfioException {@code NO_MEMORY} when no free range is large enough
   * @throws IllegalArgumentException when bytes is not positive
   */
  public long allocate(long bytes, long largerPage, long like) {
    return find(bytes, largerPage, like)
        .or(() -> find(bytes, PAGE, 0))
        .orElseThrow(
            () ->
                new VfioException(
                    VfioException.Reason.NO_MEMORY,
                    "no free range of %d bytes in the I/O address space; %d ranges are in use"
                        .formatted(bytes, inUse())));
  }

  private Optional<Long> find(long bytes, long largerPage, long like) {
    for (RangeAllocator range : ranges) {
      OptionalLong start = range.allocate(bytes, largerPage, like);
      if (start.isPresent()) {
        return Optional.of(start.getAsLong());
      }
    }
    return Optional.empty();
  }

  /**
   * Frees a range.
   *
   * @param start as {@link #allocate} returned it
   */
  public void free(long start) {
    int at = ranges.size() - 1;
    while (at > 0 && firsts.get(at) > start) {
      at--;
    }
    ranges.get(at).free(start);
  }

  /** Number of ranges in use. */
  public int inUse() {
    return ranges.stream().mapToInt(RangeAllocator::inUse).sum();
  }
}
