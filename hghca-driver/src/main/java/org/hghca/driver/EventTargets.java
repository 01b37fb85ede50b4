package org.hghca.driver;

import java.util.Collection;

/** The objects of a device that events are about. Thread-safe. */
interface EventTargets {

  /** The completion queue with a number; null when there is none. */
  WatchedQueue completionQueue(int number);

  /** The completion queues that the card has. */
  Collection<? extends WatchedQueue> completionQueues();

  /**
   * Tells of an asynchronous event.
   *
   * @param type the code of an event type
   * @param data CQN, QPN, SRQN or port
   * @return false for an event that is unknown, or of an object that is not there
   */
  boolean asynchronous(int type, int subtype, int data);
}
