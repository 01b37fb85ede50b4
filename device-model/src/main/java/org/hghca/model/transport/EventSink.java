package org.hghca.model.transport;

/** Receives the events of queue pairs. */
@FunctionalInterface
public interface EventSink {
  void raise(QueuePairEvent event, int qpn);
}
