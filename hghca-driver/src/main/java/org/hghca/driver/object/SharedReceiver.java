package org.hghca.driver.object;

import java.util.function.Consumer;
import org.hghca.abi.QueuePairContext;
import org.hghca.driver.ring.Receives;
import org.hghca.provider.srq.SharedQueue;

/** The part of a shared receive queue that belongs to a queue pair. */
interface SharedReceiver extends Receives {
  SharedQueue queue();

  /** Sets in a context that the queue pair receives from it. */
  void writeTo(QueuePairContext context);

  /** The queue pair was created. */
  void join();

  /**
   * The queue pair is being closed; its requests are returned when the card has finished with it.
   */
  void leave();

  /** The state of the queue pair has changed. */
  void stateChanged();

  /**
   * Whether the card may be in the middle of a message whose request it returns only after an
   * error: such a queue pair goes to RESET through ERR.
   */
  boolean isResetByError();

  /**
   * Takes back the requests of the queue pair. The card has finished with it.
   *
   * @param drop drops the unpolled completions of the queue pair, and runs what it is given under
   *     the same lock
   */
  void reclaim(Consumer<Runnable> drop);
}
