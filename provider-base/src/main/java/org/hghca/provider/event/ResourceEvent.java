package org.hghca.provider.event;

import java.util.concurrent.atomic.AtomicBoolean;
import org.hghca.provider.Resource;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.SharedReceiveQueue;

/**
 * An asynchronous event. It holds its object from the time it is taken until it is acknowledged.
 */
public abstract class ResourceEvent implements Resource.Claim {
  private final AsyncEventType type;
  private final Resource object;
  private final AtomicBoolean acknowledged = new AtomicBoolean();

  /** An event of an object; null for a port or the device. */
  private ResourceEvent(AsyncEventType type, Resource object) {
    this.type = type;
    this.object = object;
  }

  /** An event of a queue pair, a completion queue or a shared receive queue. */
  public static AsyncEvent of(AsyncEventType type, Resource object) {
    return switch (object) {
      case QueuePair qp -> new OfQueuePair(type, object, qp);
      case CompletionQueue cq -> new OfCompletionQueue(type, object, cq);
      case SharedReceiveQueue srq -> new OfSharedReceiveQueue(type, object, srq);
      default -> throw new IllegalArgumentException(object.describe());
    };
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
      object.releaseClaim(this);
    }
  }

  public final AsyncEventType type() {
    return type;
  }

  public final void acknowledge() {
    if (acknowledged.compareAndSet(false, true)) {
      putBack();
    }
  }

  /** What it happened to. */
  String where() {
    return object.describe();
  }

  @Override
  public final String label() {
    return type.symbol();
  }

  @Override
  public final String refusal(String labels) {
    return "has events that were not acknowledged: %s: acknowledge them first".formatted(labels);
  }

  @Override
  public final String toString() {
    return "%s of %s".formatted(type.symbol(), where());
  }

  private static final class OfQueuePair extends ResourceEvent implements AsyncEvent.OfQueuePair {
    private final QueuePair queuePair;

    OfQueuePair(AsyncEventType type, Resource object, QueuePair queuePair) {
      super(type, object);
      this.queuePair = queuePair;
    }

    @Override
    public QueuePair queuePair() {
      return queuePair;
    }
  }

  private static final class OfCompletionQueue extends ResourceEvent
      implements AsyncEvent.OfCompletionQueue {
    private final CompletionQueue queue;

    OfCompletionQueue(AsyncEventType type, Resource object, CompletionQueue queue) {
      super(type, object);
      this.queue = queue;
    }

    @Override
    public CompletionQueue completionQueue() {
      return queue;
    }
  }

  private static final class OfSharedReceiveQueue extends ResourceEvent
      implements AsyncEvent.OfSharedReceiveQueue {
    private final SharedReceiveQueue queue;

    OfSharedReceiveQueue(AsyncEventType type, Resource object, SharedReceiveQueue queue) {
      super(type, object);
      this.queue = queue;
    }

    @Override
    public SharedReceiveQueue sharedReceiveQueue() {
      return queue;
    }
  }

  /** An event of a port. */
  public static final class OfPort extends ResourceEvent implements AsyncEvent.OfPort {
    private final int port;

    public OfPort(AsyncEventType type, int port) {
      super(type, null);
      this.port = port;
    }

    @Override
    public int port() {
      return port;
    }

    @Override
    String where() {
      return "port " + port;
    }
  }

  /** An event of the device. */
  public static final class OfDevice extends ResourceEvent implements AsyncEvent.OfDevice {

    public OfDevice(AsyncEventType type) {
      super(type, null);
    }

    @Override
    String where() {
      return "device";
    }
  }
}
