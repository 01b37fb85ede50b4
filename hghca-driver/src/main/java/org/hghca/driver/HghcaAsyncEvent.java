package org.hghca.driver;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.SharedReceiveQueue;

/** An asynchronous event. From when it is taken until it is acknowledged it holds its object. */
final class HghcaAsyncEvent implements AsyncEvent, Resource.Claim {
  private final AsyncEventType type;
  private final Resource object;
  private final int port;
  private final AtomicBoolean acknowledged = new AtomicBoolean();

  /**
   * An event.
   *
   * @param object what it happened to; null for a port or the device
   * @param port 0 when it did not happen to a port
   */
  HghcaAsyncEvent(AsyncEventType type, Resource object, int port) {
    this.type = type;
    this.object = object;
    this.port = port;
  }

  boolean isOf(Resource resource) {
    return resource.equals(object);
  }

  boolean isLive() {
    return object == null || !object.isClosed();
  }

  /** Holds the object, unless it is closed. */
  boolean take() {
    return object == null || object.hold(this);
  }

  void putBack() {
    if (object != null) {
      object.letGo(this);
    }
  }

  @Override
  public AsyncEventType type() {
    return type;
  }

  @Override
  public Optional<QueuePair> queuePair() {
    return object instanceof QueuePair qp ? Optional.of(qp) : Optional.empty();
  }

  @Override
  public Optional<CompletionQueue> completionQueue() {
    return object instanceof CompletionQueue cq ? Optional.of(cq) : Optional.empty();
  }

  @Override
  public Optional<SharedReceiveQueue> sharedReceiveQueue() {
    return object instanceof SharedReceiveQueue srq ? Optional.of(srq) : Optional.empty();
  }

  @Override
  public int port() {
    return port;
  }

  @Override
  public void acknowledge() {
    if (acknowledged.compareAndSet(false, true)) {
      putBack();
    }
  }

  @Override
  public String label() {
    return type.symbol();
  }

  @Override
  public String refusal(String labels) {
    return "has events that were not acknowledged: %s: acknowledge them first".formatted(labels);
  }

  @Override
  public String toString() {
    String where = object != null ? object.describe() : port != 0 ? "port " + port : "device";
    return "%s of %s".formatted(type.symbol(), where);
  }
}
