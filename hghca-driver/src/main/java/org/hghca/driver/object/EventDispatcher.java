package org.hghca.driver.object;

import java.util.Collection;
import java.util.Optional;
import org.hghca.abi.Eqe;
import org.hghca.abi.EventType;
import org.hghca.driver.event.EventSource;
import org.hghca.driver.event.EventTargets;
import org.hghca.driver.event.WatchedQueue;
import org.hghca.driver.transition.DriverQueuePair;
import org.hghca.provider.Health;
import org.hghca.provider.object.AbstractContext;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.QpState;

/** Delivers asynchronous events to the objects of a device. */
final class EventDispatcher implements EventTargets {
  private final DeviceObjects objects;
  private final Collection<AbstractContext> contexts;
  private final Health health;

  EventDispatcher(DeviceObjects objects, Collection<AbstractContext> contexts, Health health) {
    this.objects = objects;
    this.contexts = contexts;
    this.health = health;
  }

  @Override
  public WatchedQueue completionQueue(int number) {
    return objects.completionQueue(number);
  }

  @Override
  public Collection<? extends WatchedQueue> completionQueues() {
    return objects.completionQueues();
  }

  @Override
  public boolean asynchronous(int type, int subtype, int data) {
    Optional<EventType> known = EventType.of(type);
    return known.isPresent() && asynchronous(known.get(), subtype, data);
  }

  /** Returns false for an event of an unknown object. */
  private boolean asynchronous(EventType type, int subtype, int data) {
    return switch (type) {
      case COMM_EST -> queuePair(AsyncEventType.COMM_EST, data, false);
      case SQ_DRAINED -> queuePair(AsyncEventType.SQ_DRAINED, data, false);
      case PATH_MIG -> queuePair(AsyncEventType.PATH_MIG, data, false);
      case PATH_MIG_FAILED -> queuePair(AsyncEventType.PATH_MIG_ERR, data, false);
      case WQ_CATAS_ERROR -> queuePair(AsyncEventType.QP_FATAL, data, true);
      case WQ_INVAL_REQ_ERROR -> queuePair(AsyncEventType.QP_REQ_ERR, data, true);
      case WQ_ACCESS_ERROR -> queuePair(AsyncEventType.QP_ACCESS_ERR, data, true);
      case SRQ_CATAS_ERROR -> sharedReceiveQueue(AsyncEventType.SRQ_ERR, data);
      case SRQ_LIMIT -> sharedReceiveQueue(AsyncEventType.SRQ_LIMIT_REACHED, data);
      case SRQ_QP_LAST_WQE -> lastReceive(data);
      case CQ_ERROR -> completionQueueFailed(data);
      case PORT_CHANGE -> port(subtype, data);
      case LOCAL_CATAS_ERROR -> {
        health.fail("the device reports an internal error (LOCAL_CATAS_ERROR)");
        yield true;
      }
    };
  }

  private boolean queuePair(AsyncEventType type, int qpn, boolean failed) {
    DriverQueuePair qp = objects.queuePairs().find(qpn);
    if (qp == null) {
      return false;
    }
    if (failed) {
      qp.failed();
    }
    qp.raise(type);
    if (failed) {
      qp.notifyShare();
    }
    return true;
  }

  /** A queue pair on its way to RESET passes through ERR, which the program did not request. */
  private boolean lastReceive(int qpn) {
    DriverQueuePair qp = objects.queuePairs().find(qpn);
    boolean fails = qp != null && qp.state() != QpState.RESET;
    if (fails) {
      qp.failed();
      qp.raise(AsyncEventType.QP_LAST_WQE_REACHED);
    }
    return fails;
  }

  private boolean sharedReceiveQueue(AsyncEventType type, int srqn) {
    EventSource queue = objects.sharedReceiveQueue(srqn);
    if (queue == null) {
      return false;
    }
    queue.raise(type);
    return true;
  }

  private boolean completionQueueFailed(int cqn) {
    WatchedQueue queue = objects.completionQueue(cqn);
    if (queue == null) {
      return false;
    }
    queue.raise(AsyncEventType.CQ_ERR);
    return true;
  }

  private boolean port(int subtype, int port) {
    AsyncEventType type =
        switch (subtype) {
          case Eqe.SUBTYPE_PORT_UP -> AsyncEventType.PORT_ACTIVE;
          case Eqe.SUBTYPE_PORT_DOWN -> AsyncEventType.PORT_ERR;
          default -> null;
        };
    if (type == null) {
      return false;
    }
    contexts.forEach(context -> context.raisePort(type, port));
    return true;
  }
}
