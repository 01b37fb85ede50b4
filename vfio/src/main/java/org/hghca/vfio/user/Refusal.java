package org.hghca.vfio.user;

import org.hghca.linux.LinuxErrno;

/**
 * A command of the client is refused: the client gets the error number, the log gets the reason.
 */
final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final LinuxErrno errno;

  Refusal(LinuxErrno errno, String reason) {
    super(reason, null, false, false);
    this.errno = errno;
  }

  LinuxErrno errno() {
    return errno;
  }

  static Refusal invalid(String reason) {
    return new Refusal(LinuxErrno.EINVAL, reason);
  }
}
