package org.hghca.virtio.driver;

import java.lang.foreign.MemorySegment;
import org.hghca.verbs.WorkRequest;
import org.hghca.virtio.abi.roce.ScatterGather;

/** Writes the elements of requests. */
final class Pieces {
  private Pieces() {}

  /** Writes an element to a place. */
  static void put(WorkRequest request, int index, MemorySegment to, long at) {
    ScatterGather.ADDRESS.setLong(to, at, request.sgeAddress(index));
    ScatterGather.LENGTH.set(to, at, request.sgeLength(index));
    ScatterGather.LKEY.set(to, at, request.sgeLkey(index));
  }
}
