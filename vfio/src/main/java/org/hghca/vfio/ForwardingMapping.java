package org.hghca.vfio;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** A mapping that forwards every call to another one, for subclasses that change some of it. */
public abstract class ForwardingMapping implements DmaMapping {
  private final DmaMapping mapping;

  protected ForwardingMapping(DmaMapping mapping) {
    this.mapping = Objects.requireNonNull(mapping);
  }

  @Override
  public MemorySegment segment() {
    return mapping.segment();
  }

  @Override
  public long iova(long offset) {
    return mapping.iova(offset);
  }

  @Override
  public DmaAccess access() {
    return mapping.access();
  }

  @Override
  public void close() {
    mapping.close();
  }
}
