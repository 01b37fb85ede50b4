package org.hghca.virtio.driver;

import java.lang.foreign.MemorySegment;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.PciFunction;

/**
 * Memory for the buffers of a virtqueue, one slot for each descriptor. No slot crosses a page, so
 * that each is contiguous for the device.
 */
final class SlotMemory {
  private final DmaMapping mapping;
  private final long[] addresses;

  private SlotMemory(DmaMapping mapping, int slots, int bytes) {
    this.mapping = mapping;
    this.addresses = new long[slots];
    for (int slot = 0; slot < slots; slot++) {
      addresses[slot] = mapping.iova((long) slot * bytes);
    }
  }

  /**
   * Allocates zeroed memory.
   *
   * @param bytes of a slot: a power of two up to a page
   */
  static SlotMemory allocate(PciFunction function, int slots, int bytes) {
    if (Integer.bitCount(bytes) != 1 || bytes > DmaMapping.PAGE_SIZE) {
      throw new IllegalArgumentException("a slot of %d bytes may cross a page".formatted(bytes));
    }
    return new SlotMemory(function.allocate((long) slots * bytes), slots, bytes);
  }

  /** The memory, slot by slot. */
  MemorySegment bytes() {
    return mapping.segment();
  }

  /** The bus address of a slot. */
  long address(int slot) {
    return addresses[slot];
  }

  /** Frees it: the device does not use it. */
  void close() {
    mapping.close();
  }
}
