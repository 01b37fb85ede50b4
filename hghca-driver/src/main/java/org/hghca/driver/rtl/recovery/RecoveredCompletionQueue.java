package org.hghca.driver.rtl.recovery;

import org.hghca.driver.completion.QueuePairRings;

/**
 * A completion queue for the state flows and the maintenance of a card that neither times out nor
 * flushes. Takes the queue's lock; callers hold none of it or below.
 */
public interface RecoveredCompletionQueue {

  /**
   * The unpolled completions of a queue pair here, and the progress of its sends, if they complete
   * here.
   */
  OutstandingWork outstandingWork(QueuePairRings qp);

  /**
   * Continues requests that wait for others with unpolled completions here, so that they are
   * executed even if the program does not poll.
   *
   * @return whether there were new completions
   */
  boolean continueRequests();
}
