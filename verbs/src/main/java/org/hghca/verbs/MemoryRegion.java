package org.hghca.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * Registered memory: {@code ibv_mr}. Thread-safe. Closing is idempotent: the device can no longer
 * access the memory when it returns. Closing memory of {@link ProtectionDomain#allocate} while
 * native code is using it fails with EBUSY and changes nothing.
 */
public interface MemoryRegion extends AutoCloseable {

  ProtectionDomain protectionDomain();

  /** The memory. */
  MemorySegment segment();

  /**
   * The address of the first byte, to which peers add offsets: that of the memory, or 0 for a
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

  /** The description for a peer that accesses all of it, if {@link #access} allows it. */
  default RemoteMemory remote() {
    return new RemoteMemory(address(), rkey(), length());
  }

  /**
   * Changes memory, domain or rights: {@code ibv_rereg_mr}. The keys stay. Requests that are
   * outstanding during the call may fail. The previous domain can be closed afterwards, and the
   * previous memory, if it came from {@link ProtectionDomain#allocate}, is freed; to keep it, the
   * new memory may be a part of it.
   *
   * <p>On failure the region is unchanged, unless the device refused the change: then every access
   * through the region fails, and it can only be re-registered or closed. In that case the previous
   * memory has already been freed.
   *
   * @throws VerbsException as {@link ProtectionDomain#register}; EINVAL when nothing is to change,
   *     the domain belongs to another context, or the region is closed; EBUSY when native code uses
   *     memory that would be freed; EIO when the device refuses
   */
  void reregister(Reregistration changes);

  @Override
  void close();
}
