package org.hghca.linux;

/** Accesses to mapped files that another process may truncate. */
public final class LostPages {
  /** Volatile, so that the compiler cannot assume its value. */
  private static volatile int turns = 1;

  private LostPages() {}

  /**
   * Must be called after an access, inside the {@code try} that catches its failure. If a file was
   * truncated, the processor faults, and the JVM throws {@link InternalError}, not at the access
   * but at the thread's next safepoint poll. A thread polls at the end of each iteration of a loop
   * without a known length.
   *
   * @throws InternalError if the access hit a missing page
   */
  public static void throwFault() {
    int turn = 0;
    while (turn < turns) {
      turn++;
    }
  }
}
