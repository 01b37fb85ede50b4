package org.hghca.provider.srq;

import java.util.function.Consumer;

/**
 * The part of a shared receive queue that belongs to a queue pair. It has something to do where a
 * driver deals the requests.
 */
public interface SharedReceives {
  SharedQueue queue();

  /** The queue pair was created. */
  default void join() {}

  /**
   * The queue pair is being closed; its requests are returned when the device has finished with it.
   */
  default void leave() {}

  /** The state of the queue pair has changed. */
  default void stateChanged() {}

  /**
   * Takes back the requests of the queue pair. The device has finished with it.
   *
   * @param drop drops its unpolled completions, then runs its argument under the same lock
   */
  void reclaim(Consumer<Runnable> drop);
}
