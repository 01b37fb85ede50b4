package org.hghca.driver.object;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.driver.completion.QpTable;
import org.hghca.driver.completion.QueuePairRings;
import org.hghca.driver.event.EventSource;
import org.hghca.driver.event.WatchedQueue;
import org.hghca.driver.transition.DriverQueuePair;

/**
 * The objects of a device with a number on the card, as events and state flows know them.
 * Thread-safe.
 */
final class DeviceObjects {
  private final QpTable<DriverQueuePair> queuePairs;
  private final QpTable<QueuePairRings> rings;
  private final Map<Integer, WatchedQueue> completionQueues = new ConcurrentHashMap<>();
  private final Map<Integer, EventSource> sharedQueues = new ConcurrentHashMap<>();

  /**
   * Without objects.
   *
   * @param endQp number after the last queue pair
   */
  DeviceObjects(int endQp) {
    this.queuePairs = new QpTable<>(endQp);
    this.rings = new QpTable<>(endQp);
  }

  QpTable<DriverQueuePair> queuePairs() {
    return queuePairs;
  }

  /** The same by completion: the fast lookup for completions. */
  QpTable<QueuePairRings> rings() {
    return rings;
  }

  void add(DriverQueuePair qp) {
    rings.put(qp.number(), qp.rings());
    queuePairs.put(qp.number(), qp);
  }

  void remove(DriverQueuePair qp) {
    queuePairs.remove(qp.number());
    rings.remove(qp.number());
  }

  /** The completion queues on the card. */
  Collection<WatchedQueue> completionQueues() {
    return completionQueues.values();
  }

  /** The completion queue with a number; null when there is none. */
  WatchedQueue completionQueue(int number) {
    return completionQueues.get(number);
  }

  void addCompletionQueue(int number, WatchedQueue queue) {
    completionQueues.put(number, queue);
  }

  void removeCompletionQueue(int number) {
    completionQueues.remove(number);
  }

  /** The card's shared receive queue with a number; null when there is none. */
  EventSource sharedReceiveQueue(int number) {
    return sharedQueues.get(number);
  }

  void addSharedReceiveQueue(int number, EventSource queue) {
    sharedQueues.put(number, queue);
  }

  void removeSharedReceiveQueue(int number) {
    sharedQueues.remove(number);
  }
}
