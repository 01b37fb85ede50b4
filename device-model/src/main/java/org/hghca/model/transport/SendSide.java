package org.hghca.model.transport;

import org.hghca.wire.Packet;
import org.hghca.wire.PacketRun;

/** The sending half of a queue pair: makes packets from its work requests. */
interface SendSide {

  /** Forgets everything. */
  void reset();

  /**
   * Sends what may be sent: in SQD started requests, in RTS all.
   *
   * @return what was sent, in packets as {@link Runs#cost} counts them
   */
  int send(ConnectionContext qp, int budget);

  /** Whether all started requests have completed. */
  boolean isDrained();

  /** Completes every outstanding or announced request, in order. */
  void flush(ConnectionContext qp);

  /** A response of the peer has arrived. */
  void receive(ConnectionContext qp, Packet packet, int operation);

  /** A run of responses has arrived; see {@link org.hghca.wire.RunTaker#take}. */
  default boolean take(ConnectionContext qp, PacketRun run) {
    return false;
  }

  /** The requested time has come: on a service that waits for something. */
  default void timeout(ConnectionContext qp) {}
}
