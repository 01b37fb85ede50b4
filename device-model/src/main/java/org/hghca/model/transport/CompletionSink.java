package org.hghca.model.transport;

/** Receives completed work requests. */
public interface CompletionSink {

  /** A send work request has completed. */
  void sendDone(ConnectionContext qp, SendWork request, WorkStatus status);

  /**
   * A receive work request has completed.
   *
   * @param operation the BTH operation of the message's last packet
   * @param immediate the immediate, 0 when the message has none
   * @param length of the message in bytes; of a datagram with its global route header
   * @param solicited whether the sender requests an event for it
   */
  void receiveDone(
      ConnectionContext qp,
      ReceiveWork request,
      int operation,
      int immediate,
      long length,
      boolean solicited);

  /** A receive work request has failed. */
  void receiveFailed(ConnectionContext qp, ReceiveWork request, WorkStatus status);
}
