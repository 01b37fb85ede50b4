package org.hghca.model.hca;

import java.util.Arrays;
import org.hghca.abi.Eqe;
import org.hghca.abi.EventType;
import org.hghca.model.transport.EventSink;
import org.hghca.model.transport.QueuePairEvent;

/**
 * Reports events: completions to the event queues that completion queues name, asynchronous ones to
 * those that MAP_EQ has named for them. An event of a type without a queue is dropped.
 */
final class EventRouting implements EventSink {
  private static final int NOWHERE = -1;

  /** The card has one port; ports count from 1. */
  private static final int PORT = 1;

  private final EventQueues queues;

  /** By event type: the number of its queue. */
  private final int[] routes = new int[EventType.values().length];

  private boolean catastropheReported;

  EventRouting(EventQueues queues) {
    this.queues = queues;
    reset();
  }

  /** Clears the routing. */
  void reset() {
    Arrays.fill(routes, NOWHERE);
    catastropheReported = false;
  }

  /**
   * MAP_EQ: maps events to a queue, or unmaps them; types that are mapped to another queue stay
   * mapped. Bits of unknown events are ignored.
   *
   * @return false when the queue is not the card's
   */
  boolean map(int eqn, boolean unmap, long mask) {
    if (!queues.owns(eqn)) {
      return false;
    }
    for (EventType type : EventType.inMask(mask)) {
      int route = routes[type.ordinal()];
      if (!unmap) {
        routes[type.ordinal()] = eqn;
      } else if (route == eqn) {
        routes[type.ordinal()] = NOWHERE;
      }
    }
    return true;
  }

  /** Unmaps all events of a queue. */
  void unmap(int eqn) {
    for (int i = 0; i < routes.length; i++) {
      if (routes[i] == eqn) {
        routes[i] = NOWHERE;
      }
    }
  }

  private boolean report(EventType type, int subtype, int data) {
    int eqn = routes[type.ordinal()];
    return eqn != NOWHERE && queues.report(eqn, type.code(), subtype, data);
  }

  @Override
  public void raise(QueuePairEvent event, int qpn) {
    EventType type =
        switch (event) {
          case COMMUNICATION_ESTABLISHED -> EventType.COMM_EST;
          case SEND_QUEUE_DRAINED -> EventType.SQ_DRAINED;
          case INVALID_REQUEST -> EventType.WQ_INVAL_REQ_ERROR;
          case ACCESS_VIOLATION -> EventType.WQ_ACCESS_ERROR;
          case LAST_RECEIVE_REACHED -> EventType.SRQ_QP_LAST_WQE;
          case PATH_MIGRATED -> EventType.PATH_MIG;
          case MIGRATION_FAILED -> EventType.PATH_MIG_FAILED;
          case WORK_QUEUE_FAILED -> EventType.WQ_CATAS_ERROR;
        };
    report(type, 0, qpn);
  }

  /** A shared receive queue cannot be read. */
  void sharedQueueFailed(int srqn) {
    report(EventType.SRQ_CATAS_ERROR, 0, srqn);
  }

  /** A shared receive queue has fewer requests left than its limit. */
  void sharedQueueLow(int srqn) {
    report(EventType.SRQ_LIMIT, 0, srqn);
  }

  /**
   * A completion queue has an event for its own event queue.
   *
   * @return false when that is not the card's
   */
  boolean completion(int cqn, int eqn) {
    boolean there = queues.owns(eqn);
    if (there) {
      queues.report(eqn, Eqe.TYPE_COMPLETION, 0, cqn);
    }
    return there;
  }

  /** A completion queue has failed. */
  void completionQueueFailed(int cqn) {
    report(EventType.CQ_ERROR, 0, cqn);
  }

  /** The card has failed. It is reported once until a reset. */
  void catastrophe() {
    if (!catastropheReported) {
      catastropheReported = true; // also while it is being reported, which may fail
      catastropheReported = report(EventType.LOCAL_CATAS_ERROR, 0, 0);
    }
  }

  /** The port has come up or gone down. */
  void portChanged(boolean up) {
    report(EventType.PORT_CHANGE, up ? Eqe.SUBTYPE_PORT_UP : Eqe.SUBTYPE_PORT_DOWN, PORT);
  }
}
