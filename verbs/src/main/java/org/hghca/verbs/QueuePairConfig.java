package org.hghca.verbs;

import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** The configuration of a queue pair: {@code ibv_qp_init_attr}. Immutable. */
public final class QueuePairConfig {
  private final QpType type;
  private final CompletionQueue sendCompletionQueue;
  private final CompletionQueue receiveCompletionQueue;
  private final QueuePairCapabilities capabilities;
  private final Set<Option> options;
  private final SharedReceiveQueue shared;

  private enum Option {
    SIGNAL_ALL,
    SINGLE_OWNER,
    GSI
  }

  private QueuePairConfig(
      QpType type,
      CompletionQueue sendCompletionQueue,
      CompletionQueue receiveCompletionQueue,
      QueuePairCapabilities capabilities,
      Set<Option> options,
      SharedReceiveQueue shared) {
    this.type = type;
    this.sendCompletionQueue = sendCompletionQueue;
    this.receiveCompletionQueue = receiveCompletionQueue;
    this.capabilities = capabilities;
    this.options = options;
    this.shared = shared;
  }

  /**
   * A queue pair of any type, with one outstanding request and one element in each direction by
   * default.
   */
  public static QueuePairConfig of(
      QpType type, CompletionQueue sendCompletionQueue, CompletionQueue receiveCompletionQueue) {
    return new QueuePairConfig(
        Objects.requireNonNull(type),
        Objects.requireNonNull(sendCompletionQueue),
        Objects.requireNonNull(receiveCompletionQueue),
        new QueuePairCapabilities(1, 1, 1, 1, 0),
        Set.of(),
        null);
  }

  /** An unreliable connected queue pair. */
  public static QueuePairConfig uc(
      CompletionQueue sendCompletionQueue, CompletionQueue receiveCompletionQueue) {
    return of(QpType.UC, sendCompletionQueue, receiveCompletionQueue);
  }

  /** A datagram queue pair. */
  public static QueuePairConfig ud(
      CompletionQueue sendCompletionQueue, CompletionQueue receiveCompletionQueue) {
    return of(QpType.UD, sendCompletionQueue, receiveCompletionQueue);
  }

  /**
   * The queue pair of the general services interface (GSI), which each port has once: a datagram
   * queue pair with the number {@link QueuePair#GSI_NUMBER} for management datagrams (MADs) of up
   * to 256 bytes, as connection managers exchange them. Its Q_Key is {@link QueuePair#GSI_QKEY}, no
   * other is possible, and sends carry it whatever they say. {@link
   * ProtectionDomain#createAddressHandle(Completions, int, java.lang.foreign.MemorySegment, int)}
   * tells by its vector which GID of the port a datagram came to.
   */
  public static QueuePairConfig gsi(
      CompletionQueue sendCompletionQueue, CompletionQueue receiveCompletionQueue) {
    return ud(sendCompletionQueue, receiveCompletionQueue).with(Option.GSI);
  }

  /** A reliable connected queue pair. */
  public static QueuePairConfig rc(
      CompletionQueue sendCompletionQueue, CompletionQueue receiveCompletionQueue) {
    return of(QpType.RC, sendCompletionQueue, receiveCompletionQueue);
  }

  private QueuePairConfig with(QueuePairCapabilities changed) {
    return new QueuePairConfig(
        type, sendCompletionQueue, receiveCompletionQueue, changed, options, shared);
  }

  private QueuePairConfig with(Option option) {
    Set<Option> more = EnumSet.of(option);
    more.addAll(options);
    return new QueuePairConfig(
        type, sendCompletionQueue, receiveCompletionQueue, capabilities, more, shared);
  }

  /** Outstanding send requests. */
  public QueuePairConfig sendDepth(int depth) {
    QueuePairCapabilities c = capabilities;
    return with(
        new QueuePairCapabilities(
            depth, c.receiveDepth(), c.maxSendSge(), c.maxReceiveSge(), c.maxInline()));
  }

  /** Outstanding receive requests. */
  public QueuePairConfig receiveDepth(int depth) {
    QueuePairCapabilities c = capabilities;
    return with(
        new QueuePairCapabilities(
            c.sendDepth(), depth, c.maxSendSge(), c.maxReceiveSge(), c.maxInline()));
  }

  /** Scatter/gather elements of a send request. */
  public QueuePairConfig maxSendSge(int elements) {
    QueuePairCapabilities c = capabilities;
    return with(
        new QueuePairCapabilities(
            c.sendDepth(), c.receiveDepth(), elements, c.maxReceiveSge(), c.maxInline()));
  }

  /** Scatter/gather elements of a receive request. */
  public QueuePairConfig maxReceiveSge(int elements) {
    QueuePairCapabilities c = capabilities;
    return with(
        new QueuePairCapabilities(
            c.sendDepth(), c.receiveDepth(), c.maxSendSge(), elements, c.maxInline()));
  }

  /** Bytes that a send request can carry in itself. */
  public QueuePairConfig maxInline(int bytes) {
    QueuePairCapabilities c = capabilities;
    return with(
        new QueuePairCapabilities(
            c.sendDepth(), c.receiveDepth(), c.maxSendSge(), c.maxReceiveSge(), bytes));
  }

  /** Every send request generates a completion, signaled or not: {@code sq_sig_all}. */
  public QueuePairConfig signalAll() {
    return with(Option.SIGNAL_ALL);
  }

  /**
   * The program guarantees that only one thread at a time posts to each of the two queues: posting
   * takes no lock. Concurrent posting from two threads then corrupts the queue; with assertions
   * enabled ({@code -ea}) the second thread gets an {@link IllegalStateException} that names both
   * instead.
   */
  public QueuePairConfig singleOwner() {
    return with(Option.SINGLE_OWNER);
  }

  /**
   * Takes receive requests from a shared queue of the same protection domain: none can be posted to
   * the queue pair itself, and receiveDepth and maxReceiveSge are ignored.
   */
  public QueuePairConfig sharedReceiveQueue(SharedReceiveQueue queue) {
    return new QueuePairConfig(
        type,
        sendCompletionQueue,
        receiveCompletionQueue,
        capabilities,
        options,
        Objects.requireNonNull(queue));
  }

  public QpType type() {
    return type;
  }

  public CompletionQueue sendCompletionQueue() {
    return sendCompletionQueue;
  }

  public CompletionQueue receiveCompletionQueue() {
    return receiveCompletionQueue;
  }

  public QueuePairCapabilities capabilities() {
    return capabilities;
  }

  /** The shared receive queue, if one is used. */
  public Optional<SharedReceiveQueue> sharedReceiveQueue() {
    return Optional.ofNullable(shared);
  }

  public boolean isSignalAll() {
    return options.contains(Option.SIGNAL_ALL);
  }

  public boolean isSingleOwner() {
    return options.contains(Option.SINGLE_OWNER);
  }

  /** Whether it is the queue pair of the general services. */
  public boolean isGsi() {
    return options.contains(Option.GSI);
  }
}
