package org.hghca.mailbox;

/** This card must not be given the command; no register was accessed. */
public final class UnsupportedCommandException extends UnsupportedOperationException {
  private static final long serialVersionUID = 1L;

  UnsupportedCommandException(String message) {
    super(message);
  }
}
