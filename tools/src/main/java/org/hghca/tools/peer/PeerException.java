package org.hghca.tools.peer;

/** The process of the other side failed, left, or violates the protocol. */
public final class PeerException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public PeerException(String message) {
    super(message);
  }

  public PeerException(String message, Throwable cause) {
    super(message, cause);
  }
}
