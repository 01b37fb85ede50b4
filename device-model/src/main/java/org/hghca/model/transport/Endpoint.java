package org.hghca.model.transport;

/** One queue pair's half of a connection: what the transport keeps for it between two events. */
final class Endpoint {
  final int qpn;
  final Requester requester;
  final Responder responder;

  /** When the requester wants to be woken, {@link Timers#NEVER} for not at all. */
  long deadline = Timers.NEVER;

  /** Where {@link Timers} keeps the endpoint, -1 when it does not. */
  int timerIndex = -1;

  /** Whether the endpoint stands in the queue of those with something to send. */
  boolean scheduled;

  /** Whether a packet has come since the queue pair is in RTR. */
  boolean established;

  /** Whether an event is due when the send queue is drained. */
  boolean notifiesDrained;

  /** Whether the queue pair has failed in a way that no completion tells. */
  boolean failed;

  Endpoint(int qpn, RcTransport transport) {
    this.qpn = qpn;
    this.requester = new Requester(transport, this);
    this.responder = new Responder(transport, this);
  }
}
