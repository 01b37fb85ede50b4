package org.hghca.tools.demo;

import org.hghca.verbs.VerbsException;

/** A device is not there, or could not be opened; the message is what the driver says. */
public final class NotOpenedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  NotOpenedException(VerbsException cause) {
    super(cause.getMessage(), cause);
  }
}
