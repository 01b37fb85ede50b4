package org.hghca.sockets.stream;

/**
 * Whether a thread polls for a moment before it sleeps: to be woken takes as long as many answers
 * do. It does as long as that finds what it waits for. Each time it does not, the next 1, 2, 4 ...
 * 64 waits sleep at once. On one processor nobody polls. Of one thread.
 */
public final class Looks {
  /** How long a thread polls, in nanoseconds. */
  public static final long LONGEST = 100_000;

  /** So long it keeps its processor: an answer of a peer that polls, too, comes within that. */
  private static final long UNSHARED = 5_000;

  private static final int MOST_SKIPPED = 64;
  private static final boolean ALONE = Runtime.getRuntime().availableProcessors() == 1;

  private int skip;
  private int nextSkip = 1;

  /** Whether this wait polls. */
  public boolean looks() {
    if (skip > 0) {
      skip--;
      return false;
    }
    return !ALONE;
  }

  /**
   * Between two polls: a peer that was woken may have been given this processor.
   *
   * @param polled for how long, in nanoseconds
   */
  public static void pause(long polled) {
    if (polled < UNSHARED) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }

  /** It was worth it. */
  public void found() {
    nextSkip = 1;
  }

  /** It was not. */
  public void missed() {
    skip = nextSkip;
    nextSkip = Math.min(2 * nextSkip, MOST_SKIPPED);
  }
}
