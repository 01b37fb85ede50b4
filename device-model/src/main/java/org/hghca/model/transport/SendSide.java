package org.hghca.model.transport;

import org.hghca.wire.Packet;

/** The sending half of a queue pair: makes packets of its work requests. */
interface SendSide {

  /** Forgets everything. */
  void reset();

  /**
   * Sends what may be sent: in SQD what was begun, in RTS all.
   *
   * @return how many packets went out
   */
  int send(ConnectionContext qp, int budget);

  /** Whether all requests that were started have ended. */
  boolean isDrained();

  /** Ends every request that is outstanding or was announced, in order. */
  void flush(ConnectionContext qp);

  /** A response of the peer has arrived. */
  void receive(ConnectionContext qp, Packet packet, int operation);

  /** The time that was asked for has come. */
  void timeout(ConnectionContext qp);
}
