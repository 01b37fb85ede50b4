package org.hghca.vfio.dma;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.MemorySource;
import org.hghca.vfio.VfioException;

/**
 * Page-aligned memory of one arena, given out zeroed and used again: an arena alone never gives
 * memory back before it closes. Sizes are rounded up, so that what one user leaves another can
 * take: to a power of two pages, and above a huge page by a quarter at most, to whole huge pages.
 * Callers synchronise.
 */
public final class PagePool {
  /** What a process has on x86-64, in bytes. */
  private static final long ADDRESS_SPACE = 1L << 47;

  private final MemorySource source;
  private final Arena arena;
  private final Map<Long, ArrayDeque<MemorySegment>> free = new HashMap<>();

  /** What is left of the memory that was taken from the source to be divided. */
  private MemorySegment rest = MemorySegment.NULL;

  public PagePool(MemorySource source, Arena arena) {
    this.source = source;
    this.arena = arena;
  }

  /** Rounds up to whole pages; the result is negative when there are no so many. */
  public static long wholePages(long bytes) {
    return bytes + DmaMapping.PAGE_SIZE - 1 & -DmaMapping.PAGE_SIZE;
  }

  /** What to throw when the system has not so much memory. */
  public static VfioException exhausted(long bytes, Throwable cause) {
    return new VfioException(
        VfioException.Reason.NO_MEMORY,
        "the system has no %d bytes of memory left: free some, ask for less, or raise the process's"
                .formatted(bytes)
            + " limit (ulimit -v)",
        cause);
  }

  /**
   * Takes memory of at least some bytes, to be given back whole.
   *
   * @throws VfioException {@code NO_MEMORY} when there is none
   */
  public MemorySegment take(long bytes) {
    long size = slabSize(bytes);
    if (size <= 0 || size > ADDRESS_SPACE) {
      throw exhausted(bytes, null);
    }
    ArrayDeque<MemorySegment> left = free.get(size);
    if (left != null && !left.isEmpty()) {
      return left.removeLast().fill((byte) 0);
    }
    long grain = source.grain();
    if (size >= grain) {
      return source.allocate(arena, size);
    }
    if (rest.byteSize() < size) {
      MemorySegment fresh = source.allocate(arena, grain);
      keepRest();
      rest = fresh;
    }
    MemorySegment taken = rest.asSlice(0, size);
    rest = rest.asSlice(size);
    return taken;
  }

  /** Keeps what is left in pieces of the sizes that are asked for. */
  private void keepRest() {
    while (rest.byteSize() > 0) {
      long size = Long.highestOneBit(rest.byteSize());
      giveBack(rest.asSlice(0, size));
      rest = rest.asSlice(size);
    }
  }

  /** How much is taken for some bytes; not positive when there is no so much. */
  private static long slabSize(long bytes) {
    long pages = wholePages(bytes);
    long power = Long.highestOneBit(pages - 1) << 1;
    if (power <= MemorySource.HUGE_PAGE) {
      return Math.max(pages, power);
    }
    long step = Math.max(MemorySource.HUGE_PAGE, power / 8);
    return pages + step - 1 & -step;
  }

  public void giveBack(MemorySegment memory) {
    free.computeIfAbsent(memory.byteSize(), size -> new ArrayDeque<>()).addLast(memory);
  }
}
