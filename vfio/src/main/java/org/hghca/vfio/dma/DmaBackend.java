package org.hghca.vfio.dma;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.hghca.vfio.DmaAccess;

/**
 * An I/O page table that somebody else keeps: the kernel for a real device, the other end of a
 * socket for an emulated one. Thread-safe.
 */
public interface DmaBackend {

  /** What addresses may be used, ascending; reserved ones are left out. */
  List<IovaRange> ranges();

  /**
   * Maps memory.
   *
   * @param pages whole pages
   * @param iova where, a multiple of the page size inside one of {@link #ranges}; nothing is mapped
   *     there
   * @throws org.hghca.vfio.VfioException {@code NO_MEMORY}, naming the limit that was hit, or what
   *     else keeps the memory from being mapped
   */
  void map(MemorySegment pages, long iova, DmaAccess access);

  /**
   * Takes back exactly what one {@link #map} did; returns after every access in flight has ended.
   */
  void unmap(long iova, long bytes);
}
