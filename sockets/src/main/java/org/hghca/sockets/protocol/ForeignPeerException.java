package org.hghca.sockets.protocol;

/** The peer speaks another protocol; the message says which. */
public final class ForeignPeerException extends Exception {
  private static final long serialVersionUID = 1L;

  ForeignPeerException(String message) {
    super(message);
  }
}
