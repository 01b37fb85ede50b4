package org.hghca.driver;

import org.hghca.verbs.CompletionQueue;

/** A completion queue as those see it who look after the sends of a card that does not. */
interface RecoveredCompletionQueue extends CompletionQueue {

  /** What stands here of a queue pair, and how far its sends are, if they complete here. */
  OutstandingWork outstandingWork(QueuePairRings qp);

  /** A queue pair in error has something that the driver flushes. */
  void addFlushing(DriverFlush flush);

  /** The card may go on writing here for queue pairs that are gone. */
  void distrust();

  /**
   * Has requests go on that wait for others whose completions stand here: a program that waits for
   * something else first has its requests executed all the same. On the RTL only.
   *
   * @return whether there was anything new
   */
  boolean goOn();
}
