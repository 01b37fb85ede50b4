package org.hghca.model.hca;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Some bytes of a queue: where they are in host memory, as far as a window of the bus has them, or
 * a copy. In place they may change at any time: a value that is checked is read once. Accesses in
 * place throw {@link IllegalStateException} once the memory's arena is closed.
 */
final class QueueBytes {
  private static final long ALIGNMENT = 8;

  private final MemorySegment copy;
  private MemorySegment memory;
  private long at;

  /**
   * @param capacity the maximum number of bytes of a copy
   */
  QueueBytes(int capacity) {
    copy = Arena.ofAuto().allocate(capacity, ALIGNMENT);
    memory = copy;
  }

  /** What has the bytes. */
  MemorySegment memory() {
    return memory;
  }

  /** Where they begin in it. */
  long at() {
    return at;
  }

  /** They are in place from now on. */
  void place(MemorySegment host, long offset) {
    memory = host;
    at = offset;
  }

  /** They are in the copy from now on, which is returned. */
  MemorySegment copy() {
    memory = copy;
    at = 0;
    return copy;
  }

  /** Whether a store of 8 bytes at a multiple of 8 is done at once. */
  boolean isAligned() {
    return (memory.address() + at & ALIGNMENT - 1) == 0;
  }

  byte get(long offset) {
    return memory.get(ValueLayout.JAVA_BYTE, at + offset);
  }
}
