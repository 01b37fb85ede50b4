package org.hghca.model.transport;

import java.util.Arrays;

/**
 * Work requests from their queues to their completions, and the memory of those that are being
 * sent. Used by one thread.
 */
final class WorkRequests {
  private static final SendWork[] NONE = {};

  private final WorkQueues queues;
  private final CompletionSink completions;
  private SendWork[] free = NONE;
  private int freeCount;

  WorkRequests(WorkQueues queues, CompletionSink completions) {
    this.queues = queues;
    this.completions = completions;
  }

  /** Takes the next send that was announced, malformed or not; returns null when there is none. */
  SendWork nextSend(ConnectionContext qp) {
    SendWork request = freeCount == 0 ? new SendWork() : free[--freeCount];
    if (queues.nextSend(qp, request)) {
      return request;
    }
    recycle(request);
    return null;
  }

  /** A send has completed, and is not used any more. */
  void sendDone(ConnectionContext qp, SendWork request, WorkStatus status) {
    completions.sendDone(qp, request, status);
    recycle(request);
  }

  /** A send is not used any more. */
  void recycle(SendWork request) {
    if (freeCount == free.length) {
      free = Arrays.copyOf(free, Math.max(16, 2 * freeCount));
    }
    free[freeCount++] = request;
  }

  /** Completes the sends that were announced but not started with an error. */
  void flushSends(ConnectionContext qp) {
    for (SendWork request = nextSend(qp); request != null; request = nextSend(qp)) {
      sendDone(qp, request, WorkStatus.FLUSHED);
    }
  }

  /**
   * Completes the posted receives with an error, at most as many as the queue has slots.
   *
   * @return whether there is a queue in which more may be posted
   */
  boolean flushReceives(ConnectionContext qp, ReceiveWork scratch) {
    if (qp.hasSharedQueue()) {
      return false; // requests posted there are for others
    }
    int slots = qp.receiveQueueLength >>> qp.receiveSlotLog;
    for (int i = 0; i < slots; i++) {
      if (!queues.nextReceive(qp, scratch)) {
        return true;
      }
      if (scratch.status != WorkStatus.SUCCESS) {
        return false;
      }
      completions.receiveFailed(qp, scratch, WorkStatus.FLUSHED);
    }
    return slots > 0;
  }
}
