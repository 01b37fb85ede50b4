package org.hghca.driver.ring;

import org.hghca.provider.srq.Due;

/**
 * The receives of a queue pair, for its completions. Called under the lock of the completion queue
 * that the queue pair receives into.
 *
 * <p>They are {@link Due} also where nothing is ever due: the compiler inlines no method whose
 * signature names a class that is not loaded, and each poll calls some that name that one.
 */
public interface Receives extends Due {

  /**
   * Whether a receive may be complete now.
   *
   * @param wqe the card's identifier: its offset
   */
  boolean expects(int wqe);

  /**
   * An expected receive is complete: frees its slot and returns its {@code wr_id}.
   *
   * @param bytes of its message; 0 after an error
   */
  long take(int wqe, int bytes);

  /** Bytes of the messages of the receives that are complete. Under any lock. */
  long receivedBytes();

  /** Whether receives that the card flushes are not reported to the program. */
  default boolean keepsFlushed() {
    return false;
  }

  /** The card has flushed an expected receive, which is not reported to the program. */
  default void keep(int wqe) {
    throw new IllegalStateException(
        "the program must get the completion of receive 0x%x".formatted(wqe));
  }

  /** The unpolled completion of a receive is in the ring. */
  default void note(int wqe) {}

  /** The completion of a receive is dropped: the queue pair is reset or closed. */
  default void drop(int wqe) {}

  /**
   * A receive has completed: schedules a notification for after the lock is released.
   *
   * @param due objects already scheduled
   */
  default Due due(Due due) {
    return due;
  }

  @Override
  default Due serve() {
    return null;
  }
}
