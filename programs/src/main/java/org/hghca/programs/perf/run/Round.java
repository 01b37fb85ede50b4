package org.hghca.programs.perf.run;

import java.util.function.BooleanSupplier;

/** One side of the message and its answer that a latency test repeats. Not thread-safe. */
interface Round {
  /** Whether this side sends before it receives for the first time. */
  boolean begins();

  /**
   * Waits for the peer's message.
   *
   * @param number from 1
   * @param over whether to wait no longer
   * @return false when it did not come before that, or the thread was interrupted
   */
  boolean receive(long number, BooleanSupplier over);

  /**
   * Sends a message and waits for its completion.
   *
   * @param number from 1
   * @return false when the thread was interrupted
   */
  boolean send(long number);
}
