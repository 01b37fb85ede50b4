package org.hghca.model;

/**
 * Whether a thread that waits for an event looks at the network itself for a moment before it
 * parks, or sleeps there for what comes: to be woken by another thread takes as long as many
 * answers do. It does as long as that finds something, and tries again now and then. What threads
 * change here at the same time are estimates.
 */
final class LookBeforeSleep {
  /** How long it looks, in nanoseconds: about as long as it takes to be woken. */
  static final long LONGEST = 50_000;

  /** How long it sleeps there, in nanoseconds: longer waits are left to the links' thread. */
  static final long LONGEST_SLEEP = 1_000_000;

  /** Most waits in a row that do not look. */
  static final int MOST_SKIPPED = 64;

  private final boolean never;
  private int skip;
  private int nextSkip = 1;

  private LookBeforeSleep(boolean never) {
    this.never = never;
  }

  /**
   * For looks, which on one processor would only keep that from whoever is looked for.
   *
   * @param processors how many this process may use
   */
  static LookBeforeSleep spinning(int processors) {
    return new LookBeforeSleep(processors == 1);
  }

  /** For sleeps at the network. */
  static LookBeforeSleep sleeping() {
    return new LookBeforeSleep(false);
  }

  /** Whether this wait looks. */
  boolean looks() {
    if (never) {
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
