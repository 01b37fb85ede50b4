package org.hghca.tools.bringup;

/** The card no longer responds; only a reset can help. */
final class CardStoppedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  CardStoppedException(String message) {
    super(message);
  }
}
