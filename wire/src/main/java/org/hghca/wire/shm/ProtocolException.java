package org.hghca.wire.shm;

/** A member has written what no member writes. */
final class ProtocolException extends Exception {
  private static final long serialVersionUID = 1;

  ProtocolException(String what, long value) {
    super("%s: %d".formatted(what, value));
  }
}
