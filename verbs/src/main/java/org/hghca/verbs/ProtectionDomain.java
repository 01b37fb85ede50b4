package org.hghca.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * A protection domain: {@code ibv_pd}. Thread-safe. Closing is idempotent and fails with EBUSY,
 * naming them, while memory regions or queue pairs of it are open.
 */
public interface ProtectionDomain extends AutoCloseable {

  Context context();

  /** As {@link #register(MemorySegment, Set)}. */
  default MemoryRegion register(MemorySegment memory, AccessFlag... access) {
    return register(memory, AccessFlag.setOf(access));
  }

  /**
   * Registers existing native memory: {@code ibv_reg_mr}. The region keeps the segment reachable;
   * the owner of its arena must not close it before the region.
   *
   * @throws VerbsException EINVAL for heap memory, an empty segment, memory of a closed arena or
   *     confined to another thread, LOCAL_WRITE on a read-only segment, REMOTE_WRITE or
   *     REMOTE_ATOMIC without LOCAL_WRITE; EOPNOTSUPP for flags that the device lacks; ENOMEM when
   *     a limit is hit
   */
  MemoryRegion register(MemorySegment memory, Set<AccessFlag> access);

  /** As {@link #allocate(long, Set)}. */
  default MemoryRegion allocate(long bytes, AccessFlag... access) {
    return allocate(bytes, AccessFlag.setOf(access));
  }

  /**
   * Allocates zeroed page-aligned memory and registers it. It lives exactly as long as its region:
   * touching it after the region's end throws.
   *
   * @param bytes at least 1
   * @throws VerbsException as {@link #register(MemorySegment, Set)}
   */
  MemoryRegion allocate(long bytes, Set<AccessFlag> access);

  /**
   * {@code ibv_create_qp}. The queue pair is in state RESET.
   *
   * @throws VerbsException EINVAL when a limit of the device is exceeded, naming it; ENOMEM when a
   *     completion queue has no room for the depths, or the device no queue pair left
   */
  QueuePair createQueuePair(QueuePairAttributes attributes);

  @Override
  void close();
}
