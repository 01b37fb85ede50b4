package org.hghca.sockets.stream;

/** Deadlines of {@link System#nanoTime}. */
final class Moments {
  private Moments() {}

  /**
   * Nanoseconds until a deadline.
   *
   * @param deadline or {@code Long.MAX_VALUE} for none
   */
  static long left(long deadline) {
    return deadline == Long.MAX_VALUE ? Long.MAX_VALUE : deadline - System.nanoTime();
  }
}
