package org.hghca.tools.launch;

/** A {@link Setting} cannot be used; the message is one line with the place and the remedy. */
public final class BadSettingException extends RuntimeException {
  private static final long serialVersionUID = 1;

  BadSettingException(String message) {
    super(message);
  }
}
