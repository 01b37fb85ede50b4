package org.hghca.driver.object;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.driver.completion.QpTable;
import org.hghca.driver.completion.QueuePairRings;

/** The objects of a device with a number on the card, and the contexts. Thread-safe. */
final class DeviceObjects {
  private final QpTable<HghcaQueuePair> queuePairs;
  private final QpTable<QueuePairRings> rings;
  private final Map<Integer, HghcaCompletionQueue> completionQueues = new ConcurrentHashMap<>();
  private final Map<Integer, HardwareSrq> sharedQueues = new ConcurrentHashMap<>();
  private final Set<DeviceContext> contexts = ConcurrentHashMap.newKeySet();

  /**
   * Without objects.
   *
   * @param endQp number after the last queue pair
   */
  DeviceObjects(int endQp) {
    this.queuePairs = new QpTable<>(endQp);
    this.rings = new QpTable<>(endQp);
  }

  QpTable<HghcaQueuePair> queuePairs() {
    return queuePairs;
  }

  /** The same by completion: the fast lookup for completions. */
  QpTable<QueuePairRings> rings() {
    return rings;
  }

  void add(HghcaQueuePair qp) {
    rings.put(qp.number(), qp.rings());
    queuePairs.put(qp.number(), qp);
  }

  void remove(HghcaQueuePair qp) {
    queuePairs.remove(qp.number());
    rings.remove(qp.number());
  }

  /** The completion queues on the card. */
  Collection<HghcaCompletionQueue> completionQueues() {
    return completionQueues.values();
  }

  /** The completion queue with a number; null when there is none. */
  HghcaCompletionQueue completionQueue(int number) {
    return completionQueues.get(number);
  }

  void add(HghcaCompletionQueue queue) {
    completionQueues.put(queue.number(), queue);
  }

  void remove(HghcaCompletionQueue queue) {
    completionQueues.remove(queue.number());
  }

  /** The card's shared receive queue with a number; null when there is none. */
  HardwareSrq sharedReceiveQueue(int number) {
    return sharedQueues.get(number);
  }

  void add(HardwareSrq queue) {
    sharedQueues.put(queue.number(), queue);
  }

  void remove(HardwareSrq queue) {
    sharedQueues.remove(queue.number());
  }

  /** The contexts that are open; they add and remove themselves. */
  Set<DeviceContext> contexts() {
    return contexts;
  }

  /** The device is dead: notifies all of them. Under any lock. */
  void deviceFailed() {
    queuePairs.forEach(HghcaQueuePair::deviceFailed);
    contexts.forEach(DeviceContext::deviceFailed);
  }
}
