package org.hghca.vfio.user;

import java.lang.foreign.MemorySegment;

/** The client's memory that came without a descriptor: the client is asked for every access. */
interface RemoteMemory {

  /**
   * Reads.
   *
   * @return whether the client gave all of it in time
   */
  boolean read(long iova, MemorySegment destination, long offset, long length);

  /**
   * Writes; returns when the client has it.
   *
   * @return whether the client took all of it in time
   */
  boolean write(long iova, MemorySegment source, long offset, long length);
}
