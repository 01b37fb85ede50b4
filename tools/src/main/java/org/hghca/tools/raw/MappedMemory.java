package org.hghca.tools.raw;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.vfio.DmaMapping;

/** The memory that a card can reach, by its bus addresses. Thread-safe. */
public final class MappedMemory {
  private final Set<DmaMapping> mappings = ConcurrentHashMap.newKeySet();

  void add(DmaMapping mapping) {
    mappings.add(mapping);
  }

  void remove(DmaMapping mapping) {
    mappings.remove(mapping);
  }

  /**
   * The memory at a bus address, while nothing is unmapped.
   *
   * @param bytes at least 1, up to the end of a page of 4096 bytes
   * @return empty when it is not mapped
   */
  public Optional<MemorySegment> at(long iova, int bytes) {
    for (DmaMapping mapping : mappings) {
      MemorySegment segment = mapping.segment();
      long inPage = iova & DmaMapping.PAGE_SIZE - 1;
      // The bus addresses of a mapping are mostly in one piece; without an IOMMU they need not be.
      long near = iova - mapping.iova(0);
      if (isAt(mapping, near, iova)) {
        return piece(segment, near, bytes);
      }
      for (long page = 0; page < segment.byteSize(); page += DmaMapping.PAGE_SIZE) {
        if (isAt(mapping, page + inPage, iova)) {
          return piece(segment, page + inPage, bytes);
        }
      }
    }
    return Optional.empty();
  }

  private static boolean isAt(DmaMapping mapping, long offset, long iova) {
    return offset >= 0 && offset < mapping.segment().byteSize() && mapping.iova(offset) == iova;
  }

  private static Optional<MemorySegment> piece(MemorySegment segment, long offset, int bytes) {
    return offset + bytes <= segment.byteSize()
        ? Optional.of(segment.asSlice(offset, bytes))
        : Optional.empty();
  }
}
