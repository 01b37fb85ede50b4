package org.hghca.vfio;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * Page-aligned memory of one arena, given out zeroed and used again: an arena alone never gives
 * memory back before it closes. Sizes are rounded up to a power of two pages, so that what one
 * queue leaves another can take. Callers synchronise.
 */
final class PagePool {
  private final Arena arena;
  private final Map<Long, ArrayDeque<MemorySegment>> free = new HashMap<>();

  PagePool(Arena arena) {
    this.arena = arena;
  }

  /** Rounds up to whole pages; the result is negative when there are no so many. */
  static long wholePages(long bytes) {
    return bytes + DmaMapping.PAGE_SIZE - 1 & -DmaMapping.PAGE_SIZE;
  }

  /**
   * Zeroed pages that nobody had before.
   *
   * @param bytes what was asked for
   * @param size {@code bytes} rounded up; not positive when that overflowed
   * @throws VfioException {@code NO_MEMORY} when there are none
   */
  static MemorySegment fresh(Arena arena, long bytes, long size) {
    Throwable cause = null;
    if (size > 0) {
      try {
        return arena.allocate(size, DmaMapping.PAGE_SIZE);
      } catch (OutOfMemoryError e) {
        cause = e;
      }
    }
    throw new VfioException(
        VfioException.Reason.NO_MEMORY,
        "the system has no %d bytes of memory left: free some, ask for less, or raise the process's"
                .formatted(bytes)
            + " limit (ulimit -v)",
        cause);
  }

  /** Takes memory of at least some bytes, to be given back whole. */
  MemorySegment take(long bytes) {
    long size = Long.highestOneBit(wholePages(bytes) - 1) << 1;
    ArrayDeque<MemorySegment> left = free.get(size);
    if (left != null && !left.isEmpty()) {
      return left.removeLast().fill((byte) 0);
    }
    return fresh(arena, bytes, size);
  }

  void giveBack(MemorySegment memory) {
    free.computeIfAbsent(memory.byteSize(), size -> new ArrayDeque<>()).addLast(memory);
  }
}
