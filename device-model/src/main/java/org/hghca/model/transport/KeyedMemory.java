package org.hghca.model.transport;

import java.lang.foreign.MemorySegment;
import org.hghca.wire.MemoryPieces;

/** Host memory as a queue pair sees it: by key, within a protection domain. */
public interface KeyedMemory {

  /** Whether a whole range may be accessed; does not access the range. */
  MemoryStatus check(int key, int pd, long address, long length, MemoryAccess access);

  /** Reads a range that {@link #check} would allow into a packet. */
  MemoryStatus read(
      int key,
      int pd,
      long address,
      MemoryAccess access,
      MemorySegment target,
      long offset,
      int length);

  /**
   * Finds a range in this process's memory, for accesses in the same step.
   *
   * @return false when it may not be accessed, or only by {@link #read} and {@link #write}; then
   *     some of it may have been added
   */
  boolean locate(int key, int pd, long address, MemoryAccess access, int length, MemoryPieces into);

  /** Writes a range that {@link #check} would allow from a packet. */
  MemoryStatus write(
      int key,
      int pd,
      long address,
      MemoryAccess access,
      MemorySegment source,
      long offset,
      int length);
}
