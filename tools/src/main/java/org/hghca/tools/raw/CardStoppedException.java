package org.hghca.tools.raw;

/** The card no longer responds; only a reset can help. */
public final class CardStoppedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What it no longer answered, and what was seen. */
  public CardStoppedException(String message) {
    super(message);
  }
}
