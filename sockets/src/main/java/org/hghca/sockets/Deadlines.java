package org.hghca.sockets;

import java.util.concurrent.TimeUnit;

/** Time limits in milliseconds, as sockets have them, and deadlines of {@link System#nanoTime}. */
final class Deadlines {
  static final long NONE = Long.MAX_VALUE;

  private Deadlines() {}

  /** The deadline of a limit; 0 is none. */
  static long in(int millis) {
    return millis == 0 ? NONE : System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
  }

  /** What is left, at least 1. */
  static int millisLeft(long deadline) {
    long nanos = deadline - System.nanoTime();
    return Math.clamp(TimeUnit.NANOSECONDS.toMillis(nanos), 1, Integer.MAX_VALUE);
  }
}
