package org.hghca.wire.link;

import java.util.Objects;

/** A link could not be opened; the message says what it lacks, and the fix. */
public final class LinkException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** What kind of failure it was. */
  public enum Reason {
    /** The specification is wrong, or names what is not there. */
    INVALID,
    /** Another process, or another link of this one, uses it. */
    BUSY,
    /** This process lacks the permission. */
    NO_PERMISSION,
    /** The system refuses it for another reason. */
    SYSTEM
  }

  private final Reason reason;

  LinkException(Reason reason, String message) {
    super(message);
    this.reason = Objects.requireNonNull(reason);
  }

  /** What kind of failure it was. */
  public Reason reason() {
    return reason;
  }
}
