package org.hghca.driver;

/** A completion queue as the thread sees it that reads events. Called under no lock. */
interface WatchedQueue {

  /** What a look at a queue that may have something to tell has found. */
  enum Look {
    /** It is not armed. */
    NOT_ARMED,
    /** The channel is told, and the queue is armed no more. */
    TELL,
    /** Nothing has come since it was armed. */
    NOTHING,
    /** Nothing to tell has come, and the card was armed again: it is to be looked at again. */
    ARMED_AGAIN
  }

  /**
   * Tells of completions if it is armed and there are any.
   *
   * @param event whether the card has given an event
   */
  Look look(boolean event);

  /** Whether it is to tell of completions that need not be solicited; a glance without the lock. */
  boolean isArmedForAll();
}
