package org.hghca.driver.rtl.recovery;

import org.hghca.driver.completion.DriverFlush;
import org.hghca.driver.completion.QueuePairRings;
import org.hghca.verbs.CompletionQueue;

/** A completion queue for the error flows of a card that neither times out nor flushes. */
public interface RecoveredCompletionQueue extends CompletionQueue {

  /**
   * The unpolled completions of a queue pair here, and the progress of its sends, if they complete
   * here.
   */
  OutstandingWork outstandingWork(QueuePairRings qp);

  /** A queue pair in error has requests that the driver flushes. */
  void addFlushing(DriverFlush flush);

  /** The card may continue to write here for closed queue pairs. */
  void distrust();

  /**
   * Continues requests that wait for others with unpolled completions here, so that they are
   * executed even if the program does not poll. On the RTL only.
   *
   * @return whether there were new completions
   */
  boolean goOn();
}
