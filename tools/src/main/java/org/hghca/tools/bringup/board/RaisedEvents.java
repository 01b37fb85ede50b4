package org.hghca.tools.bringup.board;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.Context;

/** The asynchronous events that say that something is wrong. One thread at a time. */
final class RaisedEvents {
  private static final Set<AsyncEventType> BAD =
      EnumSet.of(
          AsyncEventType.CQ_ERR,
          AsyncEventType.QP_FATAL,
          AsyncEventType.QP_REQ_ERR,
          AsyncEventType.QP_ACCESS_ERR,
          AsyncEventType.PATH_MIG_ERR,
          AsyncEventType.DEVICE_FATAL,
          AsyncEventType.PORT_ERR,
          AsyncEventType.SRQ_ERR);

  private final List<String> raised = new ArrayList<>();

  /** Takes those that a device has raised so far. */
  void collect(Context context) {
    for (Optional<AsyncEvent> event = context.asyncEvents().poll();
        event.isPresent();
        event = context.asyncEvents().poll()) {
      add(event.get());
      event.get().acknowledge();
    }
  }

  private void add(AsyncEvent event) {
    String subject =
        switch (event) {
          case AsyncEvent.OfQueuePair of -> " of QPN 0x%06x".formatted(of.queuePair().number());
          case AsyncEvent.OfPort of -> " of port %d".formatted(of.port());
          default -> "";
        };
    if (BAD.contains(event.type())) {
      raised.add(event.type().symbol() + subject);
    }
  }

  /** All that were collected since the last call. */
  List<String> take() {
    List<String> events = List.copyOf(raised);
    raised.clear();
    return events;
  }
}
