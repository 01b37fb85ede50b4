package org.hghca.vfio;

import java.util.Objects;

/** A PCI function could not be opened, or refused a request; the message names the fix. */
public final class VfioException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The kind of failure, named after the operating system's error numbers. */
  public enum Reason {
    /** No such function or scheme (ENODEV). */
    NOT_FOUND,
    /** A node or a memory area may not be accessed by this user (EACCES). */
    NO_PERMISSION,
    /** Another process owns the function (EBUSY). */
    BUSY,
    /** An argument is wrong (EINVAL). */
    INVALID,
    /** There is no memory at an address (EFAULT). */
    BAD_ADDRESS,
    /** Memory, address space or a limit is exhausted (ENOMEM). */
    NO_MEMORY,
    /** This function, kernel or platform does not support it (EOPNOTSUPP). */
    UNSUPPORTED,
    /** The function was closed or removed (ENODEV). */
    CLOSED
  }

  private final Reason reason;

  public VfioException(Reason reason, String message) {
    this(reason, message, null);
  }

  public VfioException(Reason reason, String message, Throwable cause) {
    super(message, cause);
    this.reason = Objects.requireNonNull(reason);
  }

  public Reason reason() {
    return reason;
  }

  /**
   * The exception for insufficient system memory.
   *
   * @param cause null for none
   */
  public static VfioException outOfMemory(long bytes, Throwable cause) {
    return new VfioException(
        Reason.NO_MEMORY,
        "the system has no %d bytes of memory left: free some, ask for less, or raise the process's"
                .formatted(bytes)
            + " limit (ulimit -v)",
        cause);
  }
}
