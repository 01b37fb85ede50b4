package org.hghca.tools.raw;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.Mpt;
import org.hghca.vfio.DmaMapping;

/**
 * Memory that is registered with the card.
 *
 * @param mapping the memory
 * @param index of its entry in the MPT
 * @param entry as the card has it
 */
public record RawRegion(DmaMapping mapping, int index, Mpt entry) {

  /** The key for elements and for peers. */
  public int key() {
    return entry.key();
  }

  /** The address of its first byte. */
  public long start() {
    return entry.start();
  }

  /** The memory, for this process. */
  public MemorySegment segment() {
    return mapping.segment();
  }
}
