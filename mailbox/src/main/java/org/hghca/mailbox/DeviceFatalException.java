package org.hghca.mailbox;

/**
 * The card no longer responds. Only a reset of the function and a new bring-up help. Commands given
 * after the first failure carry that failure as their cause.
 */
public sealed class DeviceFatalException extends RuntimeException permits CommandTimeoutException {
  private static final long serialVersionUID = 1L;

  DeviceFatalException(String message) {
    super(message);
  }

  DeviceFatalException(String message, Throwable cause) {
    super(message, cause);
  }
}
