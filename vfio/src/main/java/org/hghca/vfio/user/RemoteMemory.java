package org.hghca.vfio.user;

import java.lang.foreign.MemorySegment;

/** The client's memory without a descriptor: every access is a request to the client. */
interface RemoteMemory {

  /**
   * Reads.
   *
   * @return whether the client supplied all of it in time
   */
  boolean read(long iova, MemorySegment destination, long offset, long length);

  /**
   * Writes; returns when the client has confirmed it.
   *
   * @return whether the client accepted all of it in time
   */
  boolean write(long iova, MemorySegment source, long offset, long length);
}
