package org.hghca.vfio;

import java.lang.foreign.MemorySegment;

/**
 * What a device sees of its host: memory by I/O virtual address, and interrupts. An access that the
 * host does not allow transfers nothing it should not, is recorded as a fault on the host's side,
 * and returns {@code false}. Thread-safe.
 */
public interface DeviceBus {

  /**
   * Reads host memory. The order in which its bytes are read is unspecified; whatever was written
   * to it before a write that an earlier read saw, this one sees.
   *
   * @param destination where to put the bytes, from {@code offset} on
   * @return whether all bytes were read; after {@code false} the destination's content is undefined
   */
  boolean read(long iova, MemorySegment destination, long offset, long length);

  /**
   * Writes host memory. A reader that sees the last byte sees all the others, and all writes
   * before.
   *
   * @param source where the bytes are, from {@code offset} on
   * @return whether all bytes were written
   */
  boolean write(long iova, MemorySegment source, long offset, long length);

  /** Raises an interrupt vector. */
  void raise(int vector);

  /**
   * Whether an access may have to wait, for instance for another process that has the memory; a
   * device does not access memory on a thread of the host then.
   */
  default boolean mayWait() {
    return true;
  }
}
