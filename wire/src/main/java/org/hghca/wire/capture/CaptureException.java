package org.hghca.wire.capture;

import java.io.IOException;

/** A file is not a capture, or only up to some offset; the message says why. */
public final class CaptureException extends IOException {
  private static final long serialVersionUID = 1;

  CaptureException(String message) {
    super(message);
  }

  CaptureException(String message, IOException cause) {
    super(message, cause);
  }
}
