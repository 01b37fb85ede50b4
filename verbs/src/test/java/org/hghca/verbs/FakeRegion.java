package org.hghca.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/** An unregistered memory region, for tests. */
record FakeRegion(MemorySegment segment, long address, long length, int lkey)
    implements MemoryRegion {

  /** Over existing memory. */
  FakeRegion(MemorySegment segment, int lkey) {
    this(segment, segment.address(), segment.byteSize(), lkey);
  }

  /** Without memory. */
  FakeRegion(long address, long length, int lkey) {
    this(MemorySegment.NULL, address, length, lkey);
  }

  @Override
  public ProtectionDomain protectionDomain() {
    throw new UnsupportedOperationException();
  }

  @Override
  public int rkey() {
    return ~lkey;
  }

  @Override
  public Set<AccessFlag> access() {
    return Set.of();
  }

  @Override
  public void reregister(Reregistration changes) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}
}
