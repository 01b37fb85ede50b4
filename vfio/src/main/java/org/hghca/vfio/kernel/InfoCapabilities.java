package org.hghca.vfio.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * The chain of capabilities after an information structure of VFIO: each begins with a {@code
 * struct vfio_info_cap_header}.
 *
 * <pre>
 *   0        2         4          8
 *  +--------+---------+----------+------ - -
 *  | id     | version | next     | body
 *  +--------+---------+----------+------ - -
 * </pre>
 *
 * {@code next} counts from the start of the structure; 0 ends the chain.
 */
final class InfoCapabilities {
  private static final int VERSION = 2;
  private static final int NEXT = 4;
  private static final int HEADER = 8;

  private InfoCapabilities() {}

  /**
   * Finds a capability.
   *
   * @param info the structure with all that follows it
   * @param first offset of the first capability, 0 for none
   * @return from its header to the end of the structure
   */
  static Optional<MemorySegment> find(MemorySegment info, int first, int id) {
    // The kernel writes the chain in ascending order: a lower offset ends it.
    long previous = 0;
    long at = Integer.toUnsignedLong(first);
    while (at > previous && at <= info.byteSize() - HEADER) {
      if (info.get(JAVA_SHORT_UNALIGNED, at) == id
          && info.get(JAVA_SHORT_UNALIGNED, at + VERSION) == 1) {
        return Optional.of(info.asSlice(at));
      }
      previous = at;
      at = Integer.toUnsignedLong(info.get(JAVA_INT_UNALIGNED, at + NEXT));
    }
    return Optional.empty();
  }

  /** The number of entries of a capability, at most as many as fit. */
  static int entries(MemorySegment capability, int countOffset, int first, int entrySize) {
    if (capability.byteSize() < first) {
      return 0;
    }
    long told = Integer.toUnsignedLong(capability.get(JAVA_INT_UNALIGNED, countOffset));
    return (int) Math.min(told, (capability.byteSize() - first) / entrySize);
  }
}
