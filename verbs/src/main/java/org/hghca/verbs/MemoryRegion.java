package org.hghca.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * Registered memory: {@code ibv_mr}. Thread-safe. Closing is idempotent: the device cannot reach
 * the memory any more when it returns. Closing memory of {@link ProtectionDomain#allocate} while
 * native code is using it fails with EBUSY and changes nothing.
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
   * A part of the region.
   *
   * @param offset in the region, in bytes
   * @throws IndexOutOfBoundsException when the part reaches beyond the region
   */
  default MemorySlice slice(long offset, long length) {
    return new MemorySlice(this, offset, length);
  }

  /** What a peer needs to reach all of it, if {@link #access} allows it. */
  default RemoteMemory remote() {
    return new RemoteMemory(address(), rkey(), length());
  }

  /**
   * Changes memory, domain or rights: {@code ibv_rereg_mr}. The keys stay. Requests that are
   * outstanding while this runs may fail. The domain left can be closed afterwards, and memory left
   * that came from {@link ProtectionDomain#allocate} ends; a part of that memory can be named to
   * keep it.
   *
   * <p>On failure the region is as before, unless it was the device that refused the change: then
   * no access through the region succeeds until it is re-registered, and it can only be that or
   * closed. Memory that was to end has ended then.
   *
   * @throws VerbsException as {@link ProtectionDomain#register}; EINVAL when nothing is to change,
   *     the domain belongs to another context, or the region is closed; EBUSY when memory that is
   *     to end is in use by native code; EIO when the device refuses
   */
  void reregister(Reregistration changes);

  @Override
  void close();
}
