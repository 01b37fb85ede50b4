package org.hghca.conformance.verbs;

import java.time.Duration;
import java.util.Optional;
import org.hghca.conformance.profile.TestTime;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.Context;

/** Asynchronous events, except those of ports, which occur when a peer is opened. */
final class Events {
  private static final Duration LIMIT = TestTime.seconds(10);

  private Events() {}

  /** Takes the next event, which the caller must acknowledge. */
  static AsyncEvent await(Context context) {
    try {
      while (true) {
        AsyncEvent event =
            context
                .asyncEvents()
                .await(LIMIT)
                .orElseThrow(() -> new AssertionError("no event after " + LIMIT));
        if (!(event instanceof AsyncEvent.OfPort)) {
          return event;
        }
        event.acknowledge();
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** The pending event, which is acknowledged. */
  static Optional<AsyncEventType> poll(Context context) {
    while (true) {
      Optional<AsyncEvent> event = context.asyncEvents().poll();
      event.ifPresent(AsyncEvent::acknowledge);
      if (event.isEmpty() || !(event.get() instanceof AsyncEvent.OfPort)) {
        return event.map(AsyncEvent::type);
      }
    }
  }

  /** The subject of an event: an object, the number of a port, or "device". */
  static Object object(AsyncEvent event) {
    return switch (event) {
      case AsyncEvent.OfQueuePair e -> e.queuePair();
      case AsyncEvent.OfCompletionQueue e -> e.completionQueue();
      case AsyncEvent.OfSharedReceiveQueue e -> e.sharedReceiveQueue();
      case AsyncEvent.OfPort e -> e.port();
      case AsyncEvent.OfDevice _ -> "device";
    };
  }
}
