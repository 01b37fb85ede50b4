package org.hghca.driver.event;

/** A completion queue for the event thread. Called without a lock. */
public interface WatchedQueue extends EventSource {

  /** The result of checking a queue for completions to report. */
  enum Look {
    /** It is not armed. */
    NOT_ARMED,
    /** The channel was notified, and the queue is disarmed. */
    TELL,
    /** Nothing has arrived since it was armed. */
    NOTHING,
    /** No completion to report has arrived, and the card was armed again: check it again. */
    ARMED_AGAIN
  }

  /**
   * Reports completions if it is armed and there are any.
   *
   * @param event whether the card has raised an event
   */
  Look look(boolean event);

  /** Whether it has a completion that no program has polled. */
  boolean hasWaiting();

  /** Whether it reports unsolicited completions, too; read without the lock. */
  boolean isArmedForAll();
}
