package org.hghca.model.transport;

/** The work requests of the queue pairs. */
public interface WorkQueues {

  /**
   * Takes the next send work request that was announced. A malformed one is also returned, with its
   * status.
   *
   * @param into whatever it was before, it is the request afterwards
   * @return whether there was one
   */
  boolean nextSend(ConnectionContext qp, SendWork into);

  /**
   * Takes the next receive work request that is posted. A malformed one is also returned, with its
   * status.
   *
   * @param into whatever it was before, it is the request afterwards
   * @return whether there was one
   */
  boolean nextReceive(ConnectionContext qp, ReceiveWork into);
}
