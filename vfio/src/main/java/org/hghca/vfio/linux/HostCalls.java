package org.hghca.vfio.linux;

import org.hghca.linux.Linux;
import org.hghca.linux.NativeAccess;
import org.hghca.linux.NativeAccessException;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/** The system calls for what owns a function, which fails with the exceptions of functions. */
public final class HostCalls {

  private HostCalls() {}

  /**
   * The calls of this system.
   *
   * @throws VfioException {@code NO_PERMISSION} when the JVM allows no native code, naming the
   *     option that it lacks; {@code UNSUPPORTED} when the C library cannot be bound
   */
  public static SystemCalls system() {
    try {
      return Linux.system();
    } catch (NativeAccessException e) {
      throw asFunctionFailure(e);
    }
  }

  /**
   * Checks that this JVM lets us reach memory by its address.
   *
   * @throws VfioException {@code NO_PERMISSION}, naming the option that it lacks
   */
  public static void checkNativeAccess() {
    try {
      NativeAccess.check();
    } catch (NativeAccessException e) {
      throw asFunctionFailure(e);
    }
  }

  private static VfioException asFunctionFailure(NativeAccessException e) {
    Reason reason = e.isDenied() ? Reason.NO_PERMISSION : Reason.UNSUPPORTED;
    return new VfioException(reason, e.getMessage(), e);
  }
}
