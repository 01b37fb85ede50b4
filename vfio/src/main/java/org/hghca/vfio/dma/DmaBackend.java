package org.hghca.vfio.dma;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.hghca.vfio.DmaAccess;

/**
 * An I/O page table that another party maintains: the kernel for a real device, the other end of a
 * socket for an emulated one. Thread-safe.
 */
public interface DmaBackend {

  /** The usable addresses, ascending, without reserved ones. */
  List<IovaRange> ranges();

  /**
   * Whether the device accesses whole pages instead of segments: then memory is mapped only once
   * even if it is requested several times, and memory that is confined to a thread is accepted,
   * because no thread of this process accesses it. Otherwise a thread of this process may access
   * it, through the owner's segment, so that the end of its arena is detected.
   */
  boolean pinsPages();

  /**
   * Maps the whole pages that contain some memory.
   *
   * @param memory the owner's segment
   * @param address of the first page
   * @param bytes of all pages
   * @param iova of the first page: a multiple of the page size, inside one of {@link #ranges};
   *     nothing is mapped there
   * @throws org.hghca.vfio.VfioException {@code NO_MEMORY}, naming the limit that was hit, or any
   *     other reason why the memory cannot be mapped
   */
  void map(MemorySegment memory, long address, long bytes, long iova, DmaAccess access);

  /**
   * Undoes exactly one {@link #map}; returns after every access in flight has ended, at once if the
   * device is gone. The memory itself may already be freed.
   */
  void unmap(long iova, long bytes);
}
