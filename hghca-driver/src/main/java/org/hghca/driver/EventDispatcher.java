package org.hghca.driver;

import java.util.Optional;
import org.hghca.abi.Eqe;
import org.hghca.abi.EventType;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.QpState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the entries of event queues mean. Used by the thread that reads them. */
final class EventDispatcher implements EventQueue.Reader {
  private static final Logger LOG = LoggerFactory.getLogger(EventDispatcher.class);

  private final HghcaDevice device;
  private final EventThread thread;
  private long ignored;

  EventDispatcher(HghcaDevice device, EventThread thread) {
    this.device = device;
    this.thread = thread;
  }

  @Override
  public void event(int type, int subtype, int data) {
    if (type == Eqe.TYPE_COMPLETION) {
      HghcaCompletionQueue queue = device.completionQueue(data);
      if (queue == null) {
        ignore(type, subtype, data);
      } else {
        thread.look(queue, true);
      }
      return;
    }
    Optional<EventType> known = EventType.of(type);
    if (known.isEmpty() || !asynchronous(known.get(), subtype, data)) {
      ignore(type, subtype, data);
    }
  }

  /** Returns false for an event of an object that is not there. */
  private boolean asynchronous(EventType type, int subtype, int data) {
    return switch (type) {
      case COMM_EST -> queuePair(AsyncEventType.COMM_EST, data, false);
      case SQ_DRAINED -> queuePair(AsyncEventType.SQ_DRAINED, data, false);
      case WQ_CATAS_ERROR -> queuePair(AsyncEventType.QP_FATAL, data, true);
      case WQ_INVAL_REQ_ERROR -> queuePair(AsyncEventType.QP_REQ_ERR, data, true);
      case WQ_ACCESS_ERROR -> queuePair(AsyncEventType.QP_ACCESS_ERR, data, true);
      case SRQ_CATAS_ERROR -> sharedReceiveQueue(AsyncEventType.SRQ_ERR, data);
      case SRQ_LIMIT -> sharedReceiveQueue(AsyncEventType.SRQ_LIMIT_REACHED, data);
      case SRQ_QP_LAST_WQE -> lastReceive(data);
      case CQ_ERROR -> completionQueue(data);
      case PORT_CHANGE -> port(subtype, data);
      case LOCAL_CATAS_ERROR -> {
        device.card().health().fail("the device reports an internal error (LOCAL_CATAS_ERROR)");
        yield true;
      }
    };
  }

  private boolean queuePair(AsyncEventType type, int qpn, boolean failed) {
    HghcaQueuePair qp = device.queuePairs().find(qpn);
    if (qp == null) {
      return false;
    }
    if (failed) {
      qp.failed();
    }
    qp.domain().deviceContext().raise(type, qp);
    if (failed) {
      qp.tellShare();
    }
    return true;
  }

  /** A queue pair on its way to RESET goes through ERR, and nobody has asked for that. */
  private boolean lastReceive(int qpn) {
    HghcaQueuePair qp = device.queuePairs().find(qpn);
    boolean fails = qp != null && qp.state() != QpState.RESET;
    if (fails) {
      qp.failed();
      qp.domain().deviceContext().raise(AsyncEventType.QP_LAST_WQE_REACHED, qp);
    }
    return fails;
  }

  private boolean sharedReceiveQueue(AsyncEventType type, int srqn) {
    HardwareSrq queue = device.sharedReceiveQueue(srqn);
    if (queue == null) {
      return false;
    }
    queue.raise(type);
    return true;
  }

  private boolean completionQueue(int cqn) {
    HghcaCompletionQueue queue = device.completionQueue(cqn);
    if (queue == null) {
      return false;
    }
    queue.context().raise(AsyncEventType.CQ_ERR, queue);
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
    device.contexts().forEach(context -> context.raisePort(type, port));
    return true;
  }

  /** An object that was closed a moment ago is the ordinary reason. */
  private void ignore(int type, int subtype, int data) {
    if (ignored++ == 0) {
      LOG.debug(
          "{}: an event of type 0x{}, subtype 0x{}, for 0x{} is ignored, and so are others like it",
          device.card().function().locator(),
          Integer.toHexString(type),
          Integer.toHexString(subtype),
          Integer.toHexString(data));
    }
  }

  /** How many events could not be delivered. */
  long ignored() {
    return ignored;
  }
}
