package org.hghca.benchmarks;

import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Context;
import org.hghca.verbs.QueuePair;

/** A device without a data path, and what completes the requests of one queue pair in its place. */
interface Script {
  /** Opens a device of its own. */
  Context open();

  /** Creates the completion queue of the sends, or then that of the receives. */
  CompletionQueue createQueue(Context context, CompletionQueueConfig config);

  /** From now on it completes the requests of a queue pair. */
  void start(QueuePair qp, QueuePair peer);

  /** The number of sends that the device has at a time. */
  int window();

  /** Completes posted sends, at most so many; returns how many. */
  int completeSends(int most);

  /** The last completion was that of a READ in the send's slot: completes the send itself. */
  default void completeAfterRead() {
    throw new IllegalStateException("the script lost a completion");
  }

  /** Completes a batch of receives that was posted. */
  void completeReceives();
}
