package org.hghca.verbs;

import java.util.List;
import java.util.OptionalInt;

/**
 * An opened device: {@code ibv_context}. Thread-safe.
 *
 * <p>Closing is idempotent and fails with EBUSY, naming them, while objects made from it are open.
 * After a fatal error of the device every verb fails with EIO and the cause.
 */
public interface Context extends AutoCloseable {

  RdmaDevice device();

  /** {@code ibv_query_device}. */
  DeviceAttributes queryDevice();

  /**
   * {@code ibv_query_port}.
   *
   * @param port from 1
   * @throws VerbsException EINVAL when there is no such port
   */
  PortAttributes queryPort(int port);

  /**
   * {@code ibv_query_gid}.
   *
   * @throws VerbsException EINVAL when there is no such port; ENODATA when the index holds no GID
   */
  Gid queryGid(int port, int index);

  /** {@code ibv_query_gid_table}: the lines that hold a GID, of all ports. */
  List<GidEntry> queryGidTable();

  /**
   * {@code ibv_query_pkey}.
   *
   * @return 16 bits
   * @throws VerbsException EINVAL when there is no such port or index
   */
  int queryPkey(int port, int index);

  /**
   * {@code ibv_get_pkey_index}.
   *
   * @throws VerbsException EINVAL when the table does not hold the key
   */
  int pkeyIndex(int port, int pkey);

  /**
   * Sets the Ethernet address of a peer, for GIDs that do not contain it: the device does no
   * address resolution.
   *
   * @param mac 48 bits
   */
  void addNeighbor(Gid gid, long mac);

  /**
   * The rule that gives a flow label to connections with label 0: from RTR on {@link
   * RoceEntropy#flowLabel} of both numbers is in their address vector, and {@link QueuePair#query}
   * returns it. At first {@link RoceEntropy#V2}.
   */
  RoceEntropy entropy();

  /** Sets {@link #entropy()}, for new connections. */
  void entropy(RoceEntropy entropy);

  /** {@code ibv_create_comp_channel}. */
  CompletionChannel createCompletionChannel();

  /** The asynchronous events of this context. */
  AsyncEvents asyncEvents();

  /** What this context has done. */
  Counters counters();

  /**
   * How often each interrupt vector of the device has fired since it was opened, as its driver has
   * seen it, by number; empty where the driver uses no interrupts.
   */
  default long[] interrupts() {
    return new long[0];
  }

  /**
   * The interrupt vector of a completion vector, an index in {@link #interrupts}; empty where the
   * driver uses no interrupts.
   *
   * @throws VerbsException EINVAL when there is no such completion vector
   */
  default OptionalInt interruptOf(int completionVector) {
    return OptionalInt.empty();
  }

  /** {@code ibv_alloc_pd}. */
  ProtectionDomain allocateProtectionDomain();

  /**
   * {@code ibv_create_cq}.
   *
   * @param entries how many completions it must hold, at least 1
   * @throws VerbsException EINVAL when entries or vector is beyond the device's limit; ENOMEM when
   *     the device has no completion queue left
   */
  default CompletionQueue createCompletionQueue(int entries) {
    return createCompletionQueue(CompletionQueueConfig.of(entries));
  }

  /**
   * As {@link #createCompletionQueue(int)}, with all options.
   *
   * @throws VerbsException EINVAL also for ring entries that are no power of two or fewer than the
   *     entries, and for a channel of another context
   */
  CompletionQueue createCompletionQueue(CompletionQueueConfig config);

  @Override
  void close();
}
