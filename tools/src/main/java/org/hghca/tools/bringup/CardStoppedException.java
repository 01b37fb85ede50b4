package org.hghca.tools.bringup;

/** The card does not answer any more; only a reset can help. */
final class CardStoppedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  CardStoppedException(String message) {
    super(message);
  }
}
