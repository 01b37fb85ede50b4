package org.hghca.provider.srq;

import org.hghca.provider.Health;
import org.hghca.provider.Resource;
import org.hghca.provider.counters.ContextCounters;
import org.hghca.verbs.AsyncEventType;

/** What shared receive queues need of their context and its device. */
public interface SharingContext {
  Health health();

  /** Most requests of a shared receive queue. */
  int maxSrqWr();

  /** Most elements of a request of a shared receive queue. */
  int maxSrqSge();

  /** The thread that deals requests while no program polls. */
  SrqRefill srqRefill();

  /** Raises an asynchronous event of an object. */
  void raise(AsyncEventType type, Resource object);

  /** An object is closed: its untaken events are dropped. */
  void forgetEvents(Resource object);

  /** An object with counters was created. */
  void count(ContextCounters.Counted object);

  /** An object with counters is closed; its counts are kept. */
  void countNoMore(ContextCounters.Counted object);
}
