package org.hghca.mailbox;

/** A command did not end within its limit, or the HCR did not become free for it. */
public final class CommandTimeoutException extends DeviceFatalException {
  private static final long serialVersionUID = 1L;

  CommandTimeoutException(String message) {
    super(message);
  }
}
