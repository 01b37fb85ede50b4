package org.hghca.tools.card;

/** A line that was refused or has failed; the card still answers. The message names the fix. */
final class RequestFailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  RequestFailedException(String message) {
    super(message);
  }
}
