package org.hghca.cm.tcp;

import java.io.IOException;

/** What a peer sent is no message of this protocol. */
sealed class MalformedException extends IOException permits UnusableOfferException {
  private static final long serialVersionUID = 1L;

  MalformedException(String message) {
    super(message);
  }
}
