package org.hghca.programs;

import org.hghca.verbs.VerbsException;

/** A device does not exist or could not be opened; the message is the driver's. */
public final class NotOpenedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public NotOpenedException(VerbsException cause) {
    super(cause.getMessage(), cause);
  }
}
