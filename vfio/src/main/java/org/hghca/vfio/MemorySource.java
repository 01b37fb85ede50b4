package org.hghca.vfio;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.linux.Linux;
import org.hghca.linux.NativeAccessException;
import org.hghca.linux.SystemCalls;

/** The source of the memory that a program and a device share. Thread-safe. */
@FunctionalInterface
public interface MemorySource {

  /**
   * The size of a huge page in bytes: memory whose size is a multiple of it may be in huge pages.
   */
  long HUGE_PAGE = 2 << 20;

  /**
   * Private memory of this process, for a device in the same process. Whole huge pages are aligned
   * so that the kernel can use transparent huge pages.
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
            return Linux.system().madvise(memory.address(), memory.byteSize(), SystemCalls.DONTNEED)
                == 0;
          } catch (NativeAccessException e) {
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
   * Returns the pages of memory to the system; the address range stays valid and reads as zero
   * afterwards.
   *
   * @param memory of {@link #allocate}, or a part, of whole pages
   * @return false if that is not possible; the memory is then unchanged
   */
  default boolean discard(MemorySegment memory) {
    return false;
  }

  /**
   * The smallest useful request, in bytes: if each piece of memory has a cost beyond its pages,
   * pools allocate more and divide it.
   */
  default long grain() {
    return DmaMapping.PAGE_SIZE;
  }
}
