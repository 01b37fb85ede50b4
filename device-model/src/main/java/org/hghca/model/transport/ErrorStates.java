package org.hghca.model.transport;

import java.util.ArrayDeque;

/** Moves queue pairs to ERR and SQE, and says so. Used by one thread. */
final class ErrorStates {
  /**
   * How often a queue pair in error is checked for newly posted receives, in nanoseconds: there is
   * no doorbell for them.
   */
  private static final long FLUSH_INTERVAL = 1_000_000;

  private final Schedule schedule;
  private final EventSink events;

  /** Queue pairs that have failed and must go to ERR. */
  private final ArrayDeque<Endpoint> failed = new ArrayDeque<>();

  ErrorStates(Schedule schedule, EventSink events) {
    this.schedule = schedule;
    this.events = events;
  }

  /**
   * Completes all work requests of a queue pair because one of them, or one of its peer's, failed.
   */
  void enterError(Endpoint endpoint, ConnectionContext qp) {
    if (qp.state != QueuePairState.ERR) {
      qp.state = QueuePairState.ERR;
      qp.setChanged(true);
      schedule.cancelTimer(endpoint);
      flush(endpoint, qp);
    }
  }

  /**
   * Completes all send work requests of a queue pair because one of them failed; receives continue.
   */
  void enterSendError(Endpoint endpoint, ConnectionContext qp) {
    qp.state = QueuePairState.SQE;
    qp.setChanged(true);
    endpoint.sender.flush(qp);
  }

  /** Completes all work requests of a queue pair in ERR. */
  void flush(Endpoint endpoint, ConnectionContext qp) {
    endpoint.sender.flush(qp);
    if (endpoint.receiver.flush(qp)) {
      schedule.wakeAfter(endpoint, FLUSH_INTERVAL);
    }
    if (qp.hasSharedQueue() && !endpoint.lastReceiveTold) {
      endpoint.lastReceiveTold = true;
      events.raise(QueuePairEvent.LAST_RECEIVE_REACHED, endpoint.qpn);
    }
  }

  /** A request of the peer was finally refused, which no local completion reports. */
  void refused(Endpoint endpoint, int syndrome) {
    switch (syndrome) {
      case Aeth.NAK_INVALID_REQUEST -> events.raise(QueuePairEvent.INVALID_REQUEST, endpoint.qpn);
      case Aeth.NAK_REMOTE_ACCESS -> events.raise(QueuePairEvent.ACCESS_VIOLATION, endpoint.qpn);
      default -> fail(endpoint);
    }
  }

  /** A queue pair has failed in a way that no completion reports; once until it is reset. */
  void fail(Endpoint endpoint) {
    if (!endpoint.failed) {
      endpoint.failed = true;
      failed.add(endpoint);
    }
  }

  boolean hasFailed() {
    return !failed.isEmpty();
  }

  /** Takes one of those that have failed, which must exist. */
  Endpoint takeFailed() {
    return failed.poll();
  }

  /** One that was taken goes to ERR, if it is not there. */
  void end(Endpoint endpoint, ConnectionContext qp) {
    enterError(endpoint, qp);
    events.raise(QueuePairEvent.WORK_QUEUE_FAILED, endpoint.qpn);
  }

  /** No queue pair is left. */
  void clear() {
    failed.clear();
  }
}
