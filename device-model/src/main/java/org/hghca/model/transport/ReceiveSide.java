package org.hghca.model.transport;

import org.hghca.wire.Packet;

/** The receiving half of a queue pair: executes what packets ask for. */
interface ReceiveSide {

  /** Forgets everything. */
  void reset();

  /** A request of a peer has arrived. */
  void receive(ConnectionContext qp, Packet packet, int operation);

  /**
   * Sends the answers that are due.
   *
   * @return how many packets went out
   */
  int respond(ConnectionContext qp, int budget);

  /** Drops the answers that are due. */
  void silence();

  /**
   * Ends every receive that is posted, in order; answers that are due are still given.
   *
   * @return whether more may be posted
   */
  boolean flush(ConnectionContext qp);
}
