package org.hghca.cm.carrier;

import org.hghca.verbs.VerbsException;

/**
 * What happens to a connection. A carrier makes these calls one after another for each {@link
 * Handshake}; an implementation returns soon, does not wait, and may call the handshake.
 */
public interface HandshakeEvents {

  /** The passive end accepts; {@link Handshake#confirm} or {@link Handshake#reject} is due. */
  void replied(ConnectReply reply);

  /** Both ends are ready. */
  void established();

  /**
   * The peer refuses, or takes back what it has said.
   *
   * @param reason the code of REJ
   */
  void rejected(int reason, PrivateData privateData);

  /**
   * The peer does not answer.
   *
   * @param tried what was sent, how often and for how long, for an error message
   */
  void unreachable(String tried);

  /** The connection has ended: the peer asks for it, has confirmed it, or is gone. */
  void disconnected(PrivateData privateData);

  /** No packet of the connection is under way any more: its numbers are free. */
  void timeWaitExited();

  /**
   * The carrier has failed, as when its device has: the peer does not learn of the end. {@link
   * #timeWaitExited} follows if the connection was established; calls of the handshake throw EIO,
   * but for {@link Handshake#close}.
   *
   * @param cause EIO
   */
  void failed(VerbsException cause);
}
