package org.hghca.provider;

import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.VfioException;

/** Failures of the layers below, told in the terms of verbs. */
public final class Failures {

  private Failures() {}

  public static VerbsException of(VfioException e) {
    Errno errno =
        switch (e.reason()) {
          case NOT_FOUND, CLOSED -> Errno.ENODEV;
          case NO_PERMISSION -> Errno.EACCES;
          case BUSY -> Errno.EBUSY;
          case INVALID -> Errno.EINVAL;
          case BAD_ADDRESS -> Errno.EFAULT;
          case NO_MEMORY -> Errno.ENOMEM;
          case UNSUPPORTED -> Errno.EOPNOTSUPP;
        };
    return new VerbsException(errno, e.getMessage(), e);
  }

  /** What a verb throws after a failure below it; what is a verbs failure already stays. */
  public static RuntimeException of(String what, RuntimeException e) {
    return switch (e) {
      case VerbsException verbs -> verbs;
      case VfioException vfio -> of(vfio);
      default -> new VerbsException(Errno.EIO, what + ": " + e.getMessage(), e);
    };
  }
}
