package org.hghca.linux;

/** This JVM cannot call the C library, or reach memory by its address. */
public final class NativeAccessException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final boolean denied;

  NativeAccessException(boolean denied, String message, Throwable cause) {
    super(message, cause);
    this.denied = denied;
  }

  /** Whether an option of the JVM denies it: the message names the option that allows it. */
  public boolean isDenied() {
    return denied;
  }
}
