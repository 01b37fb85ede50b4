package org.hghca.vfio;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.linux.HostCalls;

/** The source of the memory that a program and a device share. Thread-safe. */
@FunctionalInterface
public interface MemorySource {

  /** The size of a huge page in bytes: memory that is a multiple may be in huge pages. */
  long HUGE_PAGE = 2 << 20;

  /**
   * Memory of this process alone, which a device in the same process reaches. Whole huge pages are
   * aligned so that the kernel can make transparent ones of them.
   */
  MemorySource ANONYMOUS =
      new MemorySource() {
        @Override
        public MemorySegment allocate(Arena arena, long bytes) {
          try {
            return arena.allocate(bytes, bytes % HUGE_PAGE == 0 ? HUGE_PAGE : DmaMapping.PAGE_SIZE);
          } catch (OutOfMemoryError e) {
            throw VfioException.outOfMemory(bytes, e);
          }
        }

        @Override
        public boolean discard(MemorySegment memory) {
          try {
            return HostCalls.system()
                    .madvise(memory.address(), memory.byteSize(), SystemCalls.DONTNEED)
                == 0;
          } catch (VfioException e) {
            return false; // a JVM without native access
          }
        }
      };

  /**
   * Allocates zeroed, page-aligned memory that lives as long as an arena.
   *
   * @param bytes a positive multiple of the page size
   * @throws VfioException {@code NO_MEMORY}, naming the limit that was hit
   */
  MemorySegment allocate(Arena arena, long bytes);

  /**
   * Gives the pages of memory back to the system, whose addresses stay: it is zero afterwards.
   *
   * @param memory of {@link #allocate}, or a part, of whole pages
   * @return false when that is not possible; the memory is as before then
   */
  default boolean discard(MemorySegment memory) {
    return false;
  }

  /**
   * The smallest useful request, in bytes: where a piece of memory costs the system more than its
   * pages, pools ask for more and divide it.
   */
  default long grain() {
    return DmaMapping.PAGE_SIZE;
  }
}
