package org.hghca.model.transport;

/**
 * A queue pair: its transport state between two events. It names its halves by what any service
 * has, so that what serves the halves can name it.
 */
final class Endpoint {
  final int qpn;
  final Service service;

  /** To be used as the transport loads it only. */
  final ConnectionContext context = new ConnectionContext();

  /** Its halves; set once, before anything uses it. */
  SendSide sender;

  ReceiveSide receiver;

  /** When the sender must be woken. */
  final Timers.Timer timer;

  /** When a turn is due that the rate limit has put off. */
  final Timers.Timer turnTimer;

  final RateLimit rate = new RateLimit();

  /** When a peer was last told of congestion: at first long ago. */
  long notifiedAt = Long.MIN_VALUE / 2;

  /** When something valid last came from its peer. */
  long heardAt;

  /** Whether the endpoint is in the queue of those with something to send. */
  boolean scheduled;

  /** Whether its acknowledgement waits for what it sends next. */
  boolean held;

  /** Whether a packet has arrived since the queue pair is in RTR. */
  boolean established;

  /** Whether an event is due when the send queue is drained. */
  boolean notifiesDrained;

  /**
   * Whether the event was raised that the queue pair takes no more requests from its shared queue.
   */
  boolean lastReceiveTold;

  /** Whether the event was raised that the peer has migrated to another path than this one. */
  boolean migrationRefused;

  /** Whether the queue pair has failed in a way that no completion reports. */
  boolean failed;

  Endpoint(int qpn, Service service) {
    this.qpn = qpn;
    this.service = service;
    this.timer = new Timers.Timer(qpn);
    this.turnTimer = new Timers.Timer(qpn);
  }
}
