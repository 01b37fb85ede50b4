package org.hghca.driver.transition;

import org.hghca.abi.QueuePairContext;
import org.hghca.driver.completion.QueuePairRings;
import org.hghca.driver.event.EventSource;
import org.hghca.driver.state.ContextAttributes;
import org.hghca.verbs.QueuePair;

/** A queue pair as its {@link StateFlow}, that of a peer and the events of the card know it. */
public interface DriverQueuePair extends QueuePair, EventSource {
  /** Its name in messages. */
  String describe();

  void checkOpen();

  QueuePairRings rings();

  /** The last context that was passed to the card. */
  QueuePairContext programmed();

  /** Converts attributes to the card's context. */
  ContextAttributes attributes();

  boolean sharesReceives();

  /** Whether the card may hold a shared receive that it returns only after an error. */
  boolean isResetByError();

  /** Notifies the queue pairs that share receives with it that the state has changed. */
  void notifyShare();

  /** It enters ERR; returns whether that is new. Under any lock. */
  boolean failed();

  /** The device is dead: nothing is posted any more. Under any lock. */
  void deviceFailed();

  /** Drops its remaining entries in rings and completion queues. The card has finished with it. */
  void forget();

  /** In error, it has requests that the driver completes. */
  void addFlushing();

  /**
   * The card may continue to write to its completion queues when it is closed, because its state
   * flow could not end it in order: their memory is kept.
   */
  void quarantineCompletions();
}
