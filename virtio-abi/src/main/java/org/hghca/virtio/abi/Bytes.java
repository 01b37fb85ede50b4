package org.hghca.virtio.abi;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Bytes of a structure that are no number, such as an address in the order of the wire.
 *
 * @param name the specification's name
 * @param offset bytes from the beginning of the structure
 * @param length bytes, at least 1
 */
public record Bytes(String name, int offset, int length) {

  /**
   * Checks the place.
   *
   * @throws IllegalArgumentException if the offset is negative or there is no byte
   */
  public Bytes {
    Objects.requireNonNull(name, "name");
    if (offset < 0 || length < 1) {
      throw new IllegalArgumentException(name + ": " + length + " bytes at " + offset);
    }
  }

  /** The byte after the last one. */
  public int end() {
    return offset + length;
  }

  /** These bytes of the structure that begins at byte {@code base}. */
  public MemorySegment in(MemorySegment segment, long base) {
    return segment.asSlice(base + offset, length);
  }
}
