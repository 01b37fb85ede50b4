package org.hghca.virtio.driver;

import org.hghca.provider.Failures;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.virtio.VirtioException;

/** Converts failures of the transport to verbs exceptions. */
final class Refusals {
  private Refusals() {}

  /** The exception of a verb for a failure of a lower layer; a verbs exception stays as it is. */
  static RuntimeException of(String what, RuntimeException e) {
    return e instanceof VirtioException virtio ? of(virtio) : Failures.of(what, e);
  }

  private static VerbsException of(VirtioException e) {
    Errno errno =
        switch (e.reason()) {
          case OTHER_DEVICE -> Errno.ENODEV;
          case UNSUPPORTED -> Errno.EOPNOTSUPP;
          case MALFORMED, TIMED_OUT, FAILED -> Errno.EIO;
        };
    return new VerbsException(errno, e.getMessage(), e);
  }
}
