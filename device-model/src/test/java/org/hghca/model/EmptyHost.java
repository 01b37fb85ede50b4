package org.hghca.model;

import java.lang.foreign.MemorySegment;
import org.hghca.vfio.DeviceBus;

/** A host without memory. */
public class EmptyHost implements DeviceBus {
  @Override
  public boolean read(long iova, MemorySegment destination, long offset, long length) {
    return false;
  }

  @Override
  public boolean write(long iova, MemorySegment source, long offset, long length) {
    return false;
  }

  @Override
  public void raise(int vector) {}
}
