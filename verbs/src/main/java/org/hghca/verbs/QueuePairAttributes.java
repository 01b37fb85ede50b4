package org.hghca.verbs;

import java.util.Objects;
import java.util.Optional;

/** How to make a queue pair: {@code ibv_qp_init_attr}. Immutable. */
public final class QueuePairAttributes {
  private final QpType type;
  private final CompletionQueue sendQueue;
  private final CompletionQueue receiveQueue;
  private final QueuePairCapabilities capabilities;
  private final boolean signalAll;
  private final boolean singleOwner;
  private final SharedReceiveQueue shared;

  private QueuePairAttributes(
      QpType type,
      CompletionQueue sendQueue,
      CompletionQueue receiveQueue,
      QueuePairCapabilities capabilities,
      boolean signalAll,
      boolean singleOwner,
      SharedReceiveQueue shared) {
    this.type = type;
    this.sendQueue = sendQueue;
    this.receiveQueue = receiveQueue;
    this.capabilities = capabilities;
    this.signalAll = signalAll;
    this.singleOwner = singleOwner;
    this.shared = shared;
  }

  /**
   * A queue pair of any type, with one outstanding request and one element each way unless said
   * otherwise.
   */
  public static QueuePairAttributes of(
      QpType type, CompletionQueue sendQueue, CompletionQueue receiveQueue) {
    return new QueuePairAttributes(
        Objects.requireNonNull(type),
        Objects.requireNonNull(sendQueue),
        Objects.requireNonNull(receiveQueue),
        new QueuePairCapabilities(1, 1, 1, 1, 0),
        false,
        false,
        null);
  }

  /** An unreliable connected queue pair. */
  public static QueuePairAttributes uc(CompletionQueue sendQueue, CompletionQueue receiveQueue) {
    return of(QpType.UC, sendQueue, receiveQueue);
  }

  /** A datagram queue pair. */
  public static QueuePairAttributes ud(CompletionQueue sendQueue, CompletionQueue receiveQueue) {
    return of(QpType.UD, sendQueue, receiveQueue);
  }

  /** A reliable connected queue pair. */
  public static QueuePairAttributes rc(CompletionQueue sendQueue, CompletionQueue receiveQueue) {
    return of(QpType.RC, sendQueue, receiveQueue);
  }

  private QueuePairAttributes with(QueuePairCapabilities changed) {
    return new QueuePairAttributes(
        type, sendQueue, receiveQueue, changed, signalAll, singleOwner, shared);
  }

  /** Outstanding send requests. */
  public QueuePairAttributes sendDepth(int depth) {
    QueuePairCapabilities c = capabilities;
    return with(
        new QueuePairCapabilities(
            depth, c.receiveDepth(), c.maxSendSge(), c.maxReceiveSge(), c.maxInline()));
  }

  /** Outstanding receive requests. */
  public QueuePairAttributes receiveDepth(int depth) {
    QueuePairCapabilities c = capabilities;
    return with(
        new QueuePairCapabilities(
            c.sendDepth(), depth, c.maxSendSge(), c.maxReceiveSge(), c.maxInline()));
  }

  /** Scatter/gather elements of a send request. */
  public QueuePairAttributes maxSendSge(int elements) {
    QueuePairCapabilities c = capabilities;
    return with(
        new QueuePairCapabilities(
            c.sendDepth(), c.receiveDepth(), elements, c.maxReceiveSge(), c.maxInline()));
  }

  /** Scatter/gather elements of a receive request. */
  public QueuePairAttributes maxReceiveSge(int elements) {
    QueuePairCapabilities c = capabilities;
    return with(
        new QueuePairCapabilities(
            c.sendDepth(), c.receiveDepth(), c.maxSendSge(), elements, c.maxInline()));
  }

  /** Bytes that a send request can carry in itself. */
  public QueuePairAttributes maxInline(int bytes) {
    QueuePairCapabilities c = capabilities;
    return with(
        new QueuePairCapabilities(
            c.sendDepth(), c.receiveDepth(), c.maxSendSge(), c.maxReceiveSge(), bytes));
  }

  /** Every send request gives a completion, signalled or not: {@code sq_sig_all}. */
  public QueuePairAttributes signalAll() {
    return new QueuePairAttributes(
        type, sendQueue, receiveQueue, capabilities, true, singleOwner, shared);
  }

  /**
   * One thread at a time posts to each of the two queues, and says so: posting takes no lock.
   * Posting from two threads at once then corrupts the queue.
   */
  public QueuePairAttributes singleOwner() {
    return new QueuePairAttributes(
        type, sendQueue, receiveQueue, capabilities, signalAll, true, shared);
  }

  /**
   * Takes receive requests from a shared queue of the same protection domain: none can be posted to
   * the queue pair itself, and receiveDepth and maxReceiveSge are ignored.
   */
  public QueuePairAttributes sharedReceiveQueue(SharedReceiveQueue queue) {
    return new QueuePairAttributes(
        type,
        sendQueue,
        receiveQueue,
        capabilities,
        signalAll,
        singleOwner,
        Objects.requireNonNull(queue));
  }

  public QpType type() {
    return type;
  }

  public CompletionQueue sendQueue() {
    return sendQueue;
  }

  public CompletionQueue receiveQueue() {
    return receiveQueue;
  }

  public QueuePairCapabilities capabilities() {
    return capabilities;
  }

  /** The shared receive queue, if one is used. */
  public Optional<SharedReceiveQueue> sharedReceiveQueue() {
    return Optional.ofNullable(shared);
  }

  public boolean isSignalAll() {
    return signalAll;
  }

  public boolean isSingleOwner() {
    return singleOwner;
  }
}
