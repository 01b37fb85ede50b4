package org.hghca.tools.replay;

/** A trace that cannot be played, or not on this card; the message names the reason and the fix. */
public final class UnplayableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The one line that the user sees. */
  public UnplayableException(String message) {
    super(message);
  }
}
