package org.hghca.model.transport;

/** A queue pair: its transport state between two events. */
final class Endpoint {
  final int qpn;
  final Service service;

  /** To be used as the transport loads it only. */
  final ConnectionContext context = new ConnectionContext();

  final SendSide sender;
  final ReceiveSide receiver;

  /** When the sender must be woken. */
  final Timers.Timer timer = new Timers.Timer(this);

  /** When a turn is due that the rate limit has put off. */
  final Timers.Timer turnTimer = new Timers.Timer(this);

  final RateLimit rate = new RateLimit();

  /** When a peer was last told of congestion. */
  long notifiedAt = -CongestionNotifier.INTERVAL;

  /** Whether the endpoint is in the queue of those with something to send. */
  boolean scheduled;

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

  Endpoint(int qpn, Service service, Transport transport) {
    this.qpn = qpn;
    this.service = service;
    this.sender =
        service == Service.RC
            ? new Requester(transport, this)
            : new UnreliableSender(transport, this);
    this.receiver =
        switch (service) {
          case RC -> new Responder(transport, this);
          case UC -> new UnreliableReceiver(transport, this);
          case UD -> new DatagramReceiver(transport, this);
        };
  }
}
