package org.hghca.model.transport;

import java.lang.foreign.MemorySegment;

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
