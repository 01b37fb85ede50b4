package org.hghca.vfio.dma;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.hghca.vfio.DmaAccess;

/**
 * An I/O page table that another party keeps: the kernel for a real device, the other end of a
 * socket for an emulated one. Thread-safe.
 */
public interface DmaBackend {

  /** What addresses may be used, ascending; reserved ones are left out. */
  List<IovaRange> ranges();

  /**
   * Whether the device reaches pages and not segments: then memory is mapped once however often it
   * is asked for, and memory that is confined to a thread is welcome, because no thread of this
   * process touches it. Else a thread may have to, through the segment that its owner gave, so that
   * the end of its arena is noticed.
   */
  boolean pinsPages();

  /**
   * Maps the whole pages that hold some memory.
   *
   * @param memory as its owner gave it
   * @param address of the first page
   * @param bytes of all pages
   * @param iova of the first page: a multiple of the page size, inside one of {@link #ranges};
   *     nothing is mapped there
   * @throws org.hghca.vfio.VfioException {@code NO_MEMORY}, naming the limit that was hit, or what
   *     else keeps the memory from being mapped
   */
  void map(MemorySegment memory, long address, long bytes, long iova, DmaAccess access);

  /**
   * Takes back exactly what one {@link #map} did; returns after every access in flight has ended,
   * which it has when the device is gone. The memory itself may be gone already.
   */
  void unmap(long iova, long bytes);
}
