package org.hghca.driver.rtl.recovery;

import org.hghca.driver.completion.QueuePairRings;

/**
 * The work of a queue pair that stands in its completion queues. Takes their locks.
 *
 * @param sends where its sends complete
 * @param receives where its receives complete
 */
public record QueuePairWork(
    QueuePairRings rings, RecoveredCompletionQueue sends, RecoveredCompletionQueue receives) {

  OutstandingWork ofSends() {
    return sends.outstandingWork(rings);
  }

  OutstandingWork ofReceives() {
    return receives.outstandingWork(rings);
  }
}
