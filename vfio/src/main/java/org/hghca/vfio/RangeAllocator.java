package org.hghca.vfio;

import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * Hands out ranges of numbers: multiples of a granule, lowest first; freed ranges are merged and
 * reused. Thread-safe.
 */
public final class RangeAllocator {
  private final long granule;
  private final TreeMap<Long, Long> free = new TreeMap<>();
  private final TreeMap<Long, Long> used = new TreeMap<>();

  /**
   * An allocator over a range of numbers.
   *
   * @param first lowest usable number, a multiple of the granule
   * @param end first number after the range, a multiple of the granule
   * @param granule start and length of every range are multiples of it; a power of two
   */
  public RangeAllocator(long first, long end, long granule) {
    if (first < 0 || first >= end || ((first | end) & granule - 1) != 0) {
      throw new IllegalArgumentException(
          "no usable range in 0x%x..0x%x by 0x%x".formatted(first, end, granule));
    }
    this.granule = granule;
    free.put(first, end - first);
  }

  /**
   * Allocates a range.
   *
   * @param length at least 1; rounded up to whole granules
   * @return its first number; empty when no free range is long enough
   * @throws IllegalArgumentException when the length is not positive
   */
  public OptionalLong allocate(long length) {
    return allocate(length, granule, 0);
  }

  /**
   * Allocates a range whose first number has a given remainder.
   *
   * @param length at least 1; rounded up to whole granules
   * @param modulus a power of two, at least the granule
   * @param congruent a multiple of the granule that leaves the same remainder
   * @return its first number; empty when no free range is long enough
   * @throws IllegalArgumentException when the length is not positive
   */
  public synchronized OptionalLong allocate(long length, long modulus, long congruent) {
    if (length <= 0) {
      throw new IllegalArgumentException("length " + length);
    }
    long size = length + granule - 1 & -granule;
    if (size < 0) {
      return OptionalLong.empty(); // Rounded up it is longer than all numbers.
    }
    for (Map.Entry<Long, Long> range : free.entrySet()) {
      long from = range.getKey();
      long before = congruent - from & modulus - 1;
      long after = range.getValue() - before - size;
      if (after >= 0) {
        long start = from + before;
        free.remove(from);
        if (before > 0) {
          free.put(from, before);
        }
        if (after > 0) {
          free.put(start + size, after);
        }
        used.put(start, size);
        return OptionalLong.of(start);
      }
    }
    return OptionalLong.empty();
  }

  /**
   * Frees a range.
   *
   * @param start as {@link #allocate} returned it
   */
  public synchronized void free(long start) {
    Long size = used.remove(start);
    if (size == null) {
      throw new IllegalArgumentException("0x%x was not allocated".formatted(start));
    }
    long from = start;
    long length = size;
    Map.Entry<Long, Long> below = free.lowerEntry(start);
    if (below != null && below.getKey() + below.getValue() == start) {
      from = below.getKey();
      length += below.getValue();
    }
    Long above = free.remove(start + size);
    if (above != null) {
      length += above;
    }
    free.put(from, length);
  }

  /**
   * Excludes free numbers of a range from allocation; numbers in use stay in use.
   *
   * @param first a multiple of the granule
   * @param end first number after the range, a multiple of the granule; the range is empty if it is
   *     not larger
   */
  public synchronized void exclude(long first, long end) {
    if (end <= first) {
      return;
    }
    Map.Entry<Long, Long> range = free.lowerEntry(end);
    while (range != null && range.getKey() + range.getValue() > first) {
      long from = range.getKey();
      long to = from + range.getValue();
      free.remove(from);
      if (from < first) {
        free.put(from, first - from);
      }
      if (end < to) {
        free.put(end, to - end);
      }
      range = free.lowerEntry(from);
    }
  }

  /** Number of ranges in use. */
  public synchronized int inUse() {
    return used.size();
  }
}
