package org.hghca.provider;

import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.VfioException;

/** Converts failures of lower layers to verbs exceptions. */
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

  /** The exception of a verb for a failure of a lower layer; a verbs exception stays as it is. */
  public static RuntimeException of(String what, RuntimeException e) {
    return switch (e) {
      case VerbsException verbs -> verbs;
      case VfioException vfio -> of(vfio);
      default -> new VerbsException(Errno.EIO, what + ": " + e.getMessage(), e);
    };
  }
}
