package org.hghca.tools.raw;

import java.lang.foreign.MemorySegment;
import org.hghca.vfio.DmaMapping;

/**
 * Memory that is registered with the card.
 *
 * @param mapping the memory
 * @param index of its entry in the MPT
 * @param key for elements and for peers
 * @param start the address of its first byte
 */
public record RawRegion(DmaMapping mapping, int index, int key, long start) {

  /** The memory, for this process. */
  public MemorySegment segment() {
    return mapping.segment();
  }
}
