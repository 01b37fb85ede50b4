package org.hghca.vfio.dma;

import java.lang.foreign.MemorySegment;
import org.hghca.vfio.DmaAccess;

/** The addresses by which a device reaches memory. Thread-safe. */
public interface AddressSpace {

  /** Memory that a device reaches until it is released. */
  interface Pin {

    /**
     * The device's address of a byte.
     *
     * @param offset from the start of the memory that was pinned, within it
     */
    long iova(long offset);

    /**
     * Takes the memory away from the device; called once. Returns after every access in flight has
     * ended.
     */
    void release();
  }

  /**
   * Puts memory within the device's reach.
   *
   * @param memory native memory of a live arena, at least a byte, not read-only when the device is
   *     to write it
   * @throws org.hghca.vfio.VfioException {@code INVALID} for memory that this device cannot reach;
   *     {@code NO_MEMORY} when a limit is hit
   */
  Pin pin(MemorySegment memory, DmaAccess access);
}
