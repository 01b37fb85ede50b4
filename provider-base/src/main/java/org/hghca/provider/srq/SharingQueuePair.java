package org.hghca.provider.srq;

import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.QueuePair;

/** A queue pair that receives from a shared receive queue. */
public interface SharingQueuePair extends QueuePair {

  /** Raises an asynchronous event of it. */
  void raise(AsyncEventType type);
}
