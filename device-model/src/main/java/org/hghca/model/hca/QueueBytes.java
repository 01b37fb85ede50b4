package org.hghca.model.hca;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.vfio.direct.RingMemory;

/**
 * Some bytes of a queue: where they are in host memory, if that stays for the whole step, or a
 * copy. They are accessed by address in {@link #MEMORY}, without any check: only the bytes that
 * were asked for, and in place only in the step in which they were found. In place they may change
 * at any time: a value that is checked is read once.
 */
final class QueueBytes {
  /** What has the bytes, at {@link #at}. */
  static final MemorySegment MEMORY = RingMemory.guardedSegment();

  private static final long ALIGNMENT = 8;

  private final MemorySegment copy;
  private long at;

  /**
   * @param capacity the maximum number of bytes of a copy
   */
  QueueBytes(int capacity) {
    copy = Arena.ofAuto().allocate(capacity, ALIGNMENT);
    copy();
  }

  /** Where they begin. The compiler sees that this lies in {@link #MEMORY}. */
  long at() {
    return RingMemory.at(at, 0);
  }

  /**
   * They are in place from now on.
   *
   * @param position as {@link RingMemory#at} gives it
   */
  void place(long position) {
    at = position;
  }

  /** They are in the copy from now on, which is returned. */
  MemorySegment copy() {
    at = RingMemory.at(copy.address(), 0);
    return copy;
  }

  /** Whether a store of 8 bytes at a multiple of 8 is done at once. */
  boolean isAligned() {
    return (at & ALIGNMENT - 1) == 0;
  }
}
