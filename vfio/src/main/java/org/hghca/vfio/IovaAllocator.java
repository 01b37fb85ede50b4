package org.hghca.vfio;

/**
 * Hands out ranges of a 64-bit I/O address space: page-aligned, never below 64 KiB, freed ranges
 * used again, lowest address first. Thread-safe.
 */
public final class IovaAllocator {

  /** Addresses below are never used: cards are known to send stray DMA to the first pages. */
  public static final long LOWEST = 0x1_0000;

  private static final long PAGE = DmaMapping.PAGE_SIZE;

  private final RangeAllocator ranges;

  /**
   * An allocator over a range.
   *
   * @param first lowest usable address
   * @param end first address beyond
   */
  public IovaAllocator(long first, long end) {
    ranges = new RangeAllocator(Math.max(LOWEST, first + PAGE - 1 & -PAGE), end & -PAGE, PAGE);
  }

  /**
   * Takes a range.
   *
   * @param bytes at least 1; rounded up to whole pages
   * @return its first address
   * @throws VfioException {@code NO_MEMORY} when no free range is large enough
   * @throws IllegalArgumentException when bytes is not positive
   */
  public long allocate(long bytes) {
    return ranges
        .allocate(bytes)
        .orElseThrow(
            () ->
                new VfioException(
                    VfioException.Reason.NO_MEMORY,
                    "no free range of %d bytes in the I/O address space; %d ranges are in use"
                        .formatted(bytes, ranges.inUse())));
  }

  /**
   * Gives a range back.
   *
   * @param start as {@link #allocate} returned it
   */
  public void free(long start) {
    ranges.free(start);
  }

  /** How many ranges are in use. */
  public int inUse() {
    return ranges.inUse();
  }
}
