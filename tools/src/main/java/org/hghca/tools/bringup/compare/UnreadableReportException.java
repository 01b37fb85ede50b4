package org.hghca.tools.bringup.compare;

/** A file is no report that can be compared; the message names the file and says what to do. */
public final class UnreadableReportException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** With the message. */
  public UnreadableReportException(String message) {
    super(message);
  }
}
