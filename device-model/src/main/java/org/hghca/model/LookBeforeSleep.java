package org.hghca.model;

/**
 * Whether a thread that waits for an event looks at the network itself for a moment before it
 * sleeps: to be woken takes as long as many answers do. It does as long as that finds something,
 * and tries again now and then. On one processor it never does. What threads change here at the
 * same time are estimates.
 */
final class LookBeforeSleep {
  /** How long it looks, in nanoseconds: about as long as it takes to be woken. */
  static final long LONGEST = 50_000;

  /** Most waits in a row that do not look. */
  static final int MOST_SKIPPED = 64;

  private final boolean alone;
  private int skip;
  private int nextSkip = 1;

  /**
   * It looks.
   *
   * @param processors how many this process may use
   */
  LookBeforeSleep(int processors) {
    alone = processors == 1;
  }

  /** Whether this wait looks. */
  boolean looks() {
    if (alone) {
      return false;
    }
    if (skip > 0) {
      skip--;
      return false;
    }
    return true;
  }

  /** It was worth it. */
  void found() {
    nextSkip = 1;
  }

  /** It was not. */
  void missed() {
    skip = nextSkip;
    nextSkip = Math.min(2 * nextSkip, MOST_SKIPPED);
  }
}
