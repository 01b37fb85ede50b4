package org.hghca.model.transport;

/** Where work requests go when they are done. */
public interface CompletionSink {

  /** A send work request has ended. */
  void sendDone(ConnectionContext qp, SendRequest request, WorkStatus status);

  /**
   * A receive work request has ended.
   *
   * @param operation the BTH operation of the message's last packet
   * @param immediate the immediate, 0 when the message has none
   * @param length of the message in bytes
   * @param solicited whether the sender asked for an event
   */
  void receiveDone(
      ConnectionContext qp,
      ReceiveRequest request,
      int operation,
      int immediate,
      long length,
      boolean solicited);

  /** A receive work request has failed. */
  void receiveFailed(ConnectionContext qp, ReceiveRequest request, WorkStatus status);
}
