package org.hghca.linux;

/** Accesses to mapped files whose end somebody else may cut off. */
public final class LostPages {
  /** Volatile, so that the compiler cannot know it. */
  private static volatile int turns = 1;

  private LostPages() {}

  /**
   * To be called behind an access, inside the {@code try} that is to catch its failure. Where a
   * file was cut off the processor faults, and the JVM throws {@link InternalError}: not there, but
   * where the thread looks next whether the JVM wants something of it. It does so at the end of
   * each turn of a loop whose length is not known in advance.
   *
   * @throws InternalError when the access met nothing
   */
  public static void throwFault() {
    int turn = 0;
    while (turn < turns) {
      turn++;
    }
  }
}
