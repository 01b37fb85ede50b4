package org.hghca.driver.event;

import org.hghca.verbs.AsyncEventType;

/** An object of the verbs whose asynchronous events go to its program. */
public interface EventSource {
  /** Raises an asynchronous event of it. Under any lock. */
  void raise(AsyncEventType type);
}
