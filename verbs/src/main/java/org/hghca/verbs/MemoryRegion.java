package org.hghca.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * Registered memory: {@code ibv_mr}. Thread-safe. Closing is idempotent: the device cannot reach
 * the memory any more when it returns.
 */
public interface MemoryRegion extends AutoCloseable {

  ProtectionDomain protectionDomain();

  /** The memory. */
  MemorySegment segment();

  /** The address of the first byte, which peers add offsets to. */
  long address();

  /** In bytes. */
  long length();

  /** The key for local scatter/gather elements. */
  int lkey();

  /** The key for peers. */
  int rkey();

  Set<AccessFlag> access();

  @Override
  void close();
}
