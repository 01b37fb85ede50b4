package org.hghca.driver.event;

import java.util.Collection;

/** The objects of a device to which events are delivered. Thread-safe. */
public interface EventTargets {

  /** The completion queue with a number; null when there is none. */
  WatchedQueue completionQueue(int number);

  /** The completion queues on the card. */
  Collection<? extends WatchedQueue> completionQueues();

  /**
   * Delivers an asynchronous event.
   *
   * @param type the code of an event type
   * @param data CQN, QPN, SRQN or port
   * @return false for an event that is unknown, or of an unknown object
   */
  boolean asynchronous(int type, int subtype, int data);
}
