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

  MemorySegment take(long bytes) {
    long pages = (bytes + DmaMapping.PAGE_SIZE - 1) / DmaMapping.PAGE_SIZE;
    long size = Math.max(1, Long.highestOneBit(2 * pages - 1)) * DmaMapping.PAGE_SIZE;
    ArrayDeque<MemorySegment> left = free.get(size);
    if (left != null && !left.isEmpty()) {
      return left.removeLast().fill((byte) 0);
    }
    try {
      return arena.allocate(size, DmaMapping.PAGE_SIZE);
    } catch (OutOfMemoryError e) {
      throw new VfioException(
          VfioException.Reason.NO_MEMORY, "no memory for %d bytes of DMA".formatted(size), e);
    }
  }

  void giveBack(MemorySegment memory) {
    free.computeIfAbsent(memory.byteSize(), size -> new ArrayDeque<>()).addLast(memory);
  }
}
