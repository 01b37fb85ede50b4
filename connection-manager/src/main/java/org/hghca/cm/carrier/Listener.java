package org.hghca.cm.carrier;

import java.util.Optional;
import org.hghca.verbs.VerbsException;

/**
 * Takes the requests for what is listened on. A carrier calls on its own thread; an implementation
 * returns soon and does not wait.
 */
public interface Listener {

  /**
   * A peer asks for a connection.
   *
   * @return where the events of the handshake go; empty drops the request without an answer, as a
   *     full backlog does, and the peer asks again
   */
  Optional<HandshakeEvents> requested(Handshake handshake, ConnectRequest request);

  /**
   * A peer asks for a UD queue pair.
   *
   * @return whether the question was taken; else it is dropped without an answer
   */
  boolean requested(ServiceHandshake handshake, ServiceRequest request);

  /**
   * The carrier has failed, as when its device has: no request follows.
   *
   * @param cause EIO
   */
  void failed(VerbsException cause);
}
