package org.hghca.wire.link;

import org.hghca.linux.LinuxErrno;
import org.hghca.wire.link.LinkException.Reason;

/**
 * The exception for a system call that the kernel refuses for a reason that no parameter of a link
 * explains.
 */
final class LinuxFailures {

  private LinuxFailures() {}

  /**
   * Checks the result of a system call.
   *
   * @param link what cannot be opened
   * @throws LinkException when the result is an error
   */
  static void check(long answer, String link, String call) {
    if (answer >= 0) {
      return;
    }
    boolean denied = LinuxErrno.EACCES.is(answer) || LinuxErrno.EPERM.is(answer);
    boolean limit = LinuxErrno.EMFILE.is(answer) || LinuxErrno.ENFILE.is(answer);
    throw new LinkException(
        denied ? Reason.NO_PERMISSION : Reason.SYSTEM,
        "cannot open %s: %s answers %s%s"
            .formatted(
                link,
                call,
                LinuxErrno.describe(answer),
                limit ? ": raise the limit of open files (ulimit -n)" : ""));
  }
}
