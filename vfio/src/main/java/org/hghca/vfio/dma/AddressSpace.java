package org.hghca.vfio.dma;

import java.lang.foreign.MemorySegment;
import org.hghca.vfio.DmaAccess;

/** The address space through which a device accesses memory. Thread-safe. */
public interface AddressSpace {

  /** Memory that a device can access until it is released. */
  interface Pin {

    /**
     * The device's address of a byte.
     *
     * @param offset from the start of the pinned memory, within it
     */
    long iova(long offset);

    /**
     * Ends the device's access to the memory; called once. Returns after every access in flight has
     * ended.
     */
    void release();
  }

  /**
   * Pins memory and makes it accessible to the device.
   *
   * @param memory native memory of a live arena, at least a byte, not read-only if the device
   *     writes it
   * @throws org.hghca.vfio.VfioException {@code INVALID} for memory that this device cannot access;
   *     {@code NO_MEMORY} when a limit is hit
   */
  Pin pin(MemorySegment memory, DmaAccess access);

  /** As {@link #pin}, of memory that is freed only after its release. */
  default Pin pinOwned(MemorySegment memory, DmaAccess access) {
    return pin(memory, access);
  }
}
