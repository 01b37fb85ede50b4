package org.hghca.sockets;

import java.util.concurrent.TimeUnit;

/**
 * Whether a selecting thread looks for a while before it sleeps: as long as that finds what it waits
 * for. Each time it does not, the next 1, 2, 4 ... 64 selections sleep at once. Not thread-safe.
 */
final class Spin {
  private static final long LONGEST = TimeUnit.MICROSECONDS.toNanos(50);
  private static final int MOST = 64;

  private static final boolean ALONE = Runtime.getRuntime().availableProcessors() == 1;

  private int skipped;
  private int skips = 1;

  /**
   * Begins.
   *
   * @return until when of {@link System#nanoTime} to look; 0 for not at all
   */
  long begin() {
    if (ALONE || Thread.currentThread().isVirtual()) {
      return 0;
    }
    if (skipped > 0) {
      skipped--;
      return 0;
    }
    return System.nanoTime() + LONGEST | 1;
  }

  void found() {
    skips = 1;
  }

  void missed() {
    skipped = skips;
    skips = Math.min(2 * skips, MOST);
  }
}
