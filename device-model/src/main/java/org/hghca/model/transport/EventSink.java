package org.hghca.model.transport;

/** Where a transport tells what happens to a queue pair and not to a work request. */
public interface EventSink {

  /** The first packet has come while the queue pair was in RTR. */
  void communicationEstablished(int qpn);

  /** The send queue was on its way to SQD, and all requests that were started have ended. */
  void sendQueueDrained(int qpn);

  /** A request of the peer was refused as invalid, and no receive completes with it. */
  void invalidRequest(int qpn);

  /** A request of the peer was refused for its access to memory. */
  void accessViolation(int qpn);

  /** The queue pair is in error and takes nothing more of the shared queue that it uses. */
  void lastReceiveReached(int qpn);

  /** The queue pair failed in a way that no completion tells. */
  void workQueueFailed(int qpn);
}
