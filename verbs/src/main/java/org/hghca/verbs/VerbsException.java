package org.hghca.verbs;

import java.util.Objects;

/** A verb failed; the message states the cause, with the error's name and number. */
public class VerbsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Errno errno;

  public VerbsException(Errno errno, String message) {
    this(errno, message, null);
  }

  public VerbsException(Errno errno, String message, Throwable cause) {
    super(message + ": " + errno, cause);
    this.errno = Objects.requireNonNull(errno);
  }

  /** What libibverbs would have returned. */
  public Errno errno() {
    return errno;
  }
}
