package org.hghca.vfio.kernel;

import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.linux.Errno;

/** Answers of the kernel as exceptions. */
final class Failures {

  private Failures() {}

  /**
   * A refusal.
   *
   * @param what what was asked and of what, as the start of a sentence: {@code cannot open
   *     /dev/vfio/7}
   * @param answer the negative error number
   */
  static VfioException of(String what, long answer) {
    return new VfioException(reason(answer), "%s: %s".formatted(what, Errno.describe(answer)));
  }

  /** A refusal whose fix is known. */
  static VfioException of(String what, long answer, String fix) {
    return new VfioException(
        reason(answer), "%s: %s: %s".formatted(what, Errno.describe(answer), fix));
  }

  /**
   * Passes an answer on.
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
    if (Errno.EPERM.is(answer) || Errno.EACCES.is(answer)) {
      return Reason.NO_PERMISSION;
    }
    if (Errno.ENOENT.is(answer) || Errno.ENXIO.is(answer) || Errno.ENODEV.is(answer)) {
      return Reason.NOT_FOUND;
    }
    if (Errno.EBUSY.is(answer) || Errno.EEXIST.is(answer) || Errno.EAGAIN.is(answer)) {
      return Reason.BUSY;
    }
    if (Errno.ENOMEM.is(answer)
        || Errno.ENOSPC.is(answer)
        || Errno.EMFILE.is(answer)
        || Errno.ENFILE.is(answer)) {
      return Reason.NO_MEMORY;
    }
    if (Errno.ENOTTY.is(answer) || Errno.EOPNOTSUPP.is(answer) || Errno.EIO.is(answer)) {
      return Reason.UNSUPPORTED;
    }
    return Reason.INVALID;
  }
}
