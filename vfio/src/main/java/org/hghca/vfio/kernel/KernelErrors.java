package org.hghca.vfio.kernel;

import org.hghca.linux.LinuxErrno;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/** Errors of the kernel as exceptions. */
final class KernelErrors {

  private KernelErrors() {}

  /**
   * A refusal.
   *
   * @param what the request and its object, as the start of a sentence: {@code cannot open
   *     /dev/vfio/7}
   * @param answer the negative error number
   */
  static VfioException of(String what, long answer) {
    return new VfioException(reason(answer), "%s: %s".formatted(what, LinuxErrno.describe(answer)));
  }

  /** A refusal whose fix is known. */
  static VfioException of(String what, long answer, String fix) {
    return new VfioException(
        reason(answer), "%s: %s: %s".formatted(what, LinuxErrno.describe(answer), fix));
  }

  /**
   * Returns a result.
   *
   * @throws VfioException when it is an error
   */
  static int checked(int answer, String what) {
    if (answer < 0) {
      throw of(what, answer);
    }
    return answer;
  }

  static Reason reason(long answer) {
    if (LinuxErrno.EPERM.is(answer) || LinuxErrno.EACCES.is(answer)) {
      return Reason.NO_PERMISSION;
    }
    if (LinuxErrno.ENOENT.is(answer)
        || LinuxErrno.ENXIO.is(answer)
        || LinuxErrno.ENODEV.is(answer)) {
      return Reason.NOT_FOUND;
    }
    if (LinuxErrno.EBUSY.is(answer)
        || LinuxErrno.EEXIST.is(answer)
        || LinuxErrno.EAGAIN.is(answer)) {
      return Reason.BUSY;
    }
    if (LinuxErrno.ENOMEM.is(answer)
        || LinuxErrno.ENOSPC.is(answer)
        || LinuxErrno.EMFILE.is(answer)
        || LinuxErrno.ENFILE.is(answer)) {
      return Reason.NO_MEMORY;
    }
    if (LinuxErrno.ENOTTY.is(answer)
        || LinuxErrno.EOPNOTSUPP.is(answer)
        || LinuxErrno.EIO.is(answer)) {
      return Reason.UNSUPPORTED;
    }
    return Reason.INVALID;
  }
}
