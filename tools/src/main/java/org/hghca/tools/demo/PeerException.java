package org.hghca.tools.demo;

/** The process of the other side failed, left, or violates the protocol. */
public final class PeerException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  PeerException(String message) {
    super(message);
  }

  PeerException(String message, Throwable cause) {
    super(message, cause);
  }
}
