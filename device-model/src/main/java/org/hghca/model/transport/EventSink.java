package org.hghca.model.transport;

/** Receives events of a transport that concern a queue pair and not a work request. */
public interface EventSink {

  /** The first packet has arrived while the queue pair was in RTR. */
  void communicationEstablished(int qpn);

  /** The send queue was on its way to SQD, and all started requests have completed. */
  void sendQueueDrained(int qpn);

  /** A request of the peer was refused as invalid, and no receive completes with it. */
  void invalidRequest(int qpn);

  /** A request of the peer was refused for its access to memory. */
  void accessViolation(int qpn);

  /** The queue pair is in error and takes no more requests from its shared queue. */
  void lastReceiveReached(int qpn);

  /** The connection has migrated to its alternate path. */
  void pathMigrated(int qpn);

  /** The peer has migrated to a path that is not the connection's alternate path. */
  void migrationFailed(int qpn);

  /** The queue pair failed in a way that no completion reports. */
  void workQueueFailed(int qpn);
}
