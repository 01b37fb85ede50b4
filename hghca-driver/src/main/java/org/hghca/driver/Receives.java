package org.hghca.driver;

/**
 * Where the receives of a queue pair stand, as its completions see it. Called under the lock of the
 * completion queue that the queue pair receives into.
 */
interface Receives {

  /**
   * Whether a receive may be complete now.
   *
   * @param wqe what the card calls it: its offset
   */
  boolean expects(int wqe);

  /** A receive that was expected is complete: frees its place and returns its {@code wr_id}. */
  long take(int wqe);

  /** Whether the program hears nothing of receives that the card flushes. */
  default boolean keepsFlushed() {
    return false;
  }

  /** The card has flushed a receive that was expected, of which the program hears nothing. */
  default void keep(int wqe) {
    throw new IllegalStateException(
        "the program must get the completion of receive 0x%x".formatted(wqe));
  }

  /** The completion of a receive is in the ring, and nobody has polled it. */
  default void note(int wqe) {}

  /** The completion of a receive is dropped: the queue pair is reset or closed. */
  default void drop(int wqe) {}

  /**
   * Something has completed: notifies the interested party when the lock is free.
   *
   * @param due who has to be told already
   */
  default Due due(Due due) {
    return due;
  }
}
