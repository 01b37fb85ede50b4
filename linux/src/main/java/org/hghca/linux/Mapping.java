package org.hghca.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory that {@link SystemCalls#mmap} has mapped. */
public final class Mapping {

  private Mapping() {}

  /**
   * The memory of a mapping, which is unmapped with the arena.
   *
   * @param address what {@code mmap} has returned
   * @param length bytes
   */
  @SuppressWarnings("restricted")
  public static MemorySegment memory(SystemCalls system, long address, long length, Arena arena) {
    return MemorySegment.ofAddress(address)
        .reinterpret(length, arena, mapped -> system.munmap(mapped.address(), length));
  }
}
