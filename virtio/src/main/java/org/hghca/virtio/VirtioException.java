package org.hghca.virtio;

import java.util.Objects;

/** A virtio device refused a request, or failed; the message names the device and the fix. */
public final class VirtioException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The kind of failure. */
  public enum Reason {
    /** The function is no modern virtio device of the type. */
    OTHER_DEVICE,
    /** The device lacks a feature, a queue or a vector, or refused the features. */
    UNSUPPORTED,
    /** The device breaks the specification. */
    MALFORMED,
    /** The device did not answer in time. */
    TIMED_OUT,
    /** The device is gone, or needs a reset. */
    FAILED
  }

  private final Reason reason;

  /** An exception with a message that says what happened and what helps. */
  public VirtioException(Reason reason, String message) {
    super(message);
    this.reason = Objects.requireNonNull(reason);
  }

  /** The kind of failure. */
  public Reason reason() {
    return reason;
  }
}
