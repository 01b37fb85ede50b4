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

  /**
   * The address of the first byte, which peers add offsets to: that of the memory, or 0 for a
   * region that is {@link AccessFlag#ZERO_BASED}.
   */
  long address();

  /** In bytes. */
  long length();

  /** The key for local scatter/gather elements. */
  int lkey();

  /** The key for peers. */
  int rkey();

  Set<AccessFlag> access();

  /**
   * Changes memory, domain or rights: {@code ibv_rereg_mr}. The keys stay. Requests that are under
   * way while this runs may fail. On failure the region is as before, unless it was the device that
   * refused: then no access through the region succeeds until it is re-registered, and it can only
   * be that or closed.
   *
   * @throws VerbsException as {@link ProtectionDomain#register}; EINVAL when nothing is to change,
   *     or the domain belongs to another context
   */
  void reregister(Reregistration changes);

  @Override
  void close();
}
