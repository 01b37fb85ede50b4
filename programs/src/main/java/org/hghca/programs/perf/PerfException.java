package org.hghca.programs.perf;

/** A measurement that cannot begin or has failed; the message says why. */
public final class PerfException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Says what failed, and what to do about it. */
  public PerfException(String message) {
    super(message);
  }

  public PerfException(String message, Throwable cause) {
    super(message, cause);
  }
}
