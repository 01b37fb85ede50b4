package org.hghca.virtio.driver;

import java.lang.foreign.MemorySegment;
import org.hghca.verbs.WorkRequest;
import org.hghca.verbs.spi.ProviderAccess;
import org.hghca.virtio.abi.roce.ScatterGather;

/** Writes the elements of requests. */
final class Pieces {
  private static final ProviderAccess ACCESS = ProviderAccess.get();

  private Pieces() {}

  /** Writes an element to a place. */
  static void put(WorkRequest request, int index, MemorySegment to, long at) {
    ScatterGather.put(to, at, request.sgeAddress(index), ACCESS.lengthAndKey(request, index));
  }
}
