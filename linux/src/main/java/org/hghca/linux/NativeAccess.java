package org.hghca.linux;

import java.lang.foreign.MemorySegment;

/** What the JVM's command line allows: calls to native code, and memory that is not Java's. */
public final class NativeAccess {

  private NativeAccess() {}

  /**
   * Checks that this JVM lets us reach memory by its address.
   *
   * @throws NativeAccessException when it does not, naming the option that it lacks
   */
  @SuppressWarnings("restricted")
  public static void check() {
    try {
      MemorySegment _ = MemorySegment.NULL.reinterpret(0);
    } catch (IllegalCallerException e) {
      throw denied(e);
    }
  }

  private static NativeAccessException denied(Throwable cause) {
    return new NativeAccessException(
        true,
        "this JVM was started without native access: give it"
            + " --enable-native-access=org.jnrproject.jffi,org.hghca.linux,org.hghca.vfio, or"
            + " --enable-native-access=ALL-UNNAMED where hghca is on the class path",
        cause);
  }

  /** What to throw when jnr-ffi did not bind the C library, which it tells in many ways. */
  static NativeAccessException unbound(Throwable failure) {
    Throwable first = failure;
    while (true) {
      // Of what failed in a static initialiser before, only the text is left.
      String text = first.toString();
      if (text.contains("IllegalCallerException")) {
        return denied(failure);
      }
      if (first.getCause() == null) {
        return new NativeAccessException(
            false, "jnr-ffi cannot bind the C library: " + text, failure);
      }
      first = first.getCause();
    }
  }
}
