package org.hghca.driver;

import org.hghca.abi.QueuePairContext;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.QueuePair;

/** A queue pair as its {@link ErrorFlow} sees it, and that of a peer. */
interface RecoveredQueuePair extends QueuePair {
  /** What it is called in messages. */
  String describe();

  boolean isClosed();

  void checkOpen();

  QueuePairRings rings();

  @Override
  RecoveredCompletionQueue sendCompletionQueue();

  @Override
  RecoveredCompletionQueue receiveCompletionQueue();

  /** What the card was given last. */
  QueuePairContext programmed();

  /** How attributes get into what the card is given. */
  ContextAttributes attributes();

  /** Whether the card takes what is put into the receive ring. */
  boolean takesReceives();

  boolean sharesReceives();

  /** Whether the card may hold a shared receive that only an error makes it give back. */
  boolean isResetByError();

  /** Notifies the queue pairs that share receives with it that the state has changed. */
  void tellShare();

  /** It is in ERR, and so is what follows; returns whether that is new. Under any lock. */
  boolean failed();

  /** Raises an asynchronous event of it. Under any lock. */
  void raise(AsyncEventType type);

  /** Drops what is left of it in rings and completion queues. The card has ended with it. */
  void forget();

  /** What it has on a card only that neither times out nor flushes. */
  SoftwareErrorFlow software();
}
