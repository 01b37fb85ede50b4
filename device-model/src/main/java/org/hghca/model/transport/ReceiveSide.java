package org.hghca.model.transport;

import org.hghca.wire.Packet;
import org.hghca.wire.PacketRun;

/** The receiving half of a queue pair: executes the requests in packets. */
interface ReceiveSide {

  /** Forgets everything. */
  void reset();

  /** A request of a peer has arrived. */
  void receive(ConnectionContext qp, Packet packet, int operation);

  /** A run of requests has arrived; see {@link org.hghca.wire.RunTaker#take}. */
  default boolean take(ConnectionContext qp, PacketRun run) {
    return false;
  }

  /**
   * Sends the answers that are due: none on a service without them.
   *
   * @return what was sent, in packets as {@link Runs#cost} counts them
   */
  default int respond(ConnectionContext qp, int budget) {
    return 0;
  }

  /** Whether responses with data are among the answers that are due. */
  default boolean owesData() {
    return false;
  }

  /** Drops the answers that are due. */
  default void silence() {}

  /**
   * Completes every posted receive, in order; pending answers are still sent.
   *
   * @return whether more may be posted
   */
  boolean flush(ConnectionContext qp);
}
