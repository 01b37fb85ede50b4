package org.hghca.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * A protection domain: {@code ibv_pd}. Thread-safe. Closing is idempotent and fails with EBUSY,
 * naming them, while memory regions, address handles, shared receive queues or queue pairs of it
 * are open.
 */
public interface ProtectionDomain extends AutoCloseable {

  Context context();

  /** As {@link #register(MemorySegment, Set)}. */
  default MemoryRegion register(MemorySegment memory, AccessFlag... access) {
    return register(memory, AccessFlag.setOf(access));
  }

  /**
   * Registers existing native memory: {@code ibv_reg_mr}. The region keeps the segment reachable;
   * the owner of its arena must not close it before the region, nor truncate the file that it maps.
   * If that happens, a card continues with its pinned pages, which are not reused, and the software
   * HCA refuses the access with an error completion. If native code unmaps registered memory
   * without the JVM's knowledge, the software HCA ends the process.
   *
   * @throws VerbsException EINVAL for heap memory, an empty segment, memory of a closed arena or
   *     confined to another thread, LOCAL_WRITE on a read-only segment, REMOTE_WRITE or
   *     REMOTE_ATOMIC without LOCAL_WRITE, ZERO_BASED for memory that does not start at a page;
   *     EFAULT for memory that is not mapped, or read-only memory with LOCAL_WRITE; EOPNOTSUPP for
   *     flags that the device lacks; ENOMEM when a limit is hit
   */
  MemoryRegion register(MemorySegment memory, Set<AccessFlag> access);

  /** As {@link #allocate(long, Set)}. */
  default MemoryRegion allocate(long bytes, AccessFlag... access) {
    return allocate(bytes, AccessFlag.setOf(access));
  }

  /**
   * Allocates zeroed page-aligned memory and registers it. It lives exactly as long as its region:
   * an access after the region is closed throws. From 2 MiB on it uses huge pages if the system has
   * them.
   *
   * @param bytes at least 1
   * @throws VerbsException as {@link #register(MemorySegment, Set)}
   */
  MemoryRegion allocate(long bytes, Set<AccessFlag> access);

  /**
   * {@code ibv_create_ah}. A device that sends all datagrams with one hop limit accepts any, as the
   * kernel does for RoCE; {@link AddressHandle#vector} returns the one that is sent.
   *
   * @throws VerbsException EINVAL when the vector has no global route, which Ethernet needs, names
   *     no port or source GID of the device, or leads to a GID whose MAC is not known; EOPNOTSUPP
   *     for a flow label, a traffic class or a service level that datagrams of the device do not
   *     carry
   */
  AddressHandle createAddressHandle(AddressVector vector);

  /**
   * The way back to the sender of a datagram: {@code ibv_create_ah_from_wc}. It copies the header's
   * flow label and traffic class as far as datagrams of the device carry them; {@link
   * AddressHandle#vector} tells.
   *
   * @param completions where its completion is
   * @param index which one it is
   * @param grh the first 40 bytes of the receive's memory
   * @param port the port that received it
   * @throws VerbsException EINVAL when the completion carries no global route header, or the MAC of
   *     the sender is not known
   */
  AddressHandle createAddressHandle(
      Completions completions, int index, MemorySegment grh, int port);

  /**
   * {@code ibv_create_srq}.
   *
   * @throws VerbsException EINVAL when a limit of the device is exceeded, naming it; EOPNOTSUPP
   *     when the device does not support them
   */
  SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueConfig config);

  /**
   * {@code ibv_create_qp}. The queue pair is in state RESET.
   *
   * @throws VerbsException EINVAL when a limit of the device is exceeded, naming it; ENOMEM when a
   *     completion queue has no room for the depths, or the device no queue pair left; EBUSY when
   *     the queue pair of the general services exists already, EOPNOTSUPP when the device lacks it
   */
  QueuePair createQueuePair(QueuePairConfig config);

  /**
   * Closes everything that is open of it, what uses the most first, and then itself. For whoever
   * made the domain and let others make objects in it.
   *
   * @throws VerbsException EBUSY when something of it cannot be closed, such as a queue pair that
   *     takes part in a multicast group; what can be closed is closed all the same
   */
  void closeWithContents();

  @Override
  void close();
}
