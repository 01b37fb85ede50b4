package org.hghca.model.transport;

import java.lang.foreign.MemorySegment;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;

/**
 * The receive that an unreliable service has taken from its queue for a message. It is kept until a
 * message has arrived completely; an error in it moves the queue pair to ERR.
 */
final class TakenReceive {
  private final TransportParts parts;
  private final Endpoint endpoint;
  private final ReceiveWork request = new ReceiveWork();

  /** Whether {@link #request} holds a work request that is not completed. */
  private boolean held;

  TakenReceive(TransportParts parts, Endpoint endpoint) {
    this.parts = parts;
    this.endpoint = endpoint;
  }

  void reset() {
    held = false;
  }

  /**
   * Takes the next posted receive, unless one is held from a message that was dropped.
   *
   * @return whether there is one that can be executed
   */
  boolean take(ConnectionContext qp) {
    if (held) {
      return true;
    }
    if (!parts.queues.nextReceive(qp, request)) {
      return false;
    }
    held = true;
    if (request.status != WorkStatus.SUCCESS) {
      fail(qp, request.status);
    }
    return held;
  }

  /**
   * Asks whether a message fits.
   *
   * @return false when the receive has failed with it
   */
  boolean holds(ConnectionContext qp, long length) {
    if (length > request.pieces.total()) {
      fail(qp, WorkStatus.LOCAL_LENGTH);
    }
    return held;
  }

  /**
   * Stores bytes of the message, which must fit.
   *
   * @return false when the receive has failed with it
   */
  boolean scatter(ConnectionContext qp, long offset, MemorySegment source, int length) {
    if (length > 0
        && request.pieces.scatter(parts.memory, qp.pd, offset, source, length) != MemoryStatus.OK) {
      fail(qp, WorkStatus.LOCAL_PROTECTION);
    }
    return held;
  }

  /** The message has arrived with its last packet; {@code length} is that of the message. */
  void finish(
      ConnectionContext qp,
      Packet packet,
      int operation,
      int remoteQpn,
      long remoteMac,
      long length) {
    held = false;
    request.remoteQpn = remoteQpn;
    request.remoteMac = remoteMac;
    int immediate = PacketOpcode.hasImmediate(operation) ? packet.immediate : 0;
    parts.completions.receiveDone(qp, request, operation, immediate, length, packet.solicited);
  }

  private void fail(ConnectionContext qp, WorkStatus status) {
    held = false;
    parts.completions.receiveFailed(qp, request, status);
    parts.errors.enterError(endpoint, qp);
  }

  /**
   * Ends the receive that is held and every one that is posted, in order.
   *
   * @return whether more may be posted
   */
  boolean flush(ConnectionContext qp) {
    if (held) {
      held = false;
      parts.completions.receiveFailed(qp, request, WorkStatus.FLUSHED);
    }
    return parts.requests.flushReceives(qp, request);
  }
}
