package org.hghca.wire.link;

/**
 * The times between what comes by a link, from which follows whether to look for what comes next or
 * to sleep until it wakes the thread: that takes some 50 us, longer than what flows leaves between
 * its packets. Used by one thread.
 */
final class Gaps {
  /** Gaps that are shorter are waited for, in nanoseconds. */
  private static final long SHORT = 50_000;

  /** A new gap counts 1 : 2^2. */
  private static final int WEIGHT_LOG = 2;

  /** No gap counts for more, so that one long rest is soon forgotten. */
  private static final long LONGEST = 4 * SHORT;

  private final boolean looks;
  private long gap = LONGEST;
  private long takenAt;

  /**
   * Nothing has come yet.
   *
   * @param processors how many this process may use: on one alone a thread that looks keeps it from
   *     who sends
   */
  Gaps(int processors, long now) {
    looks = processors > 1;
    takenAt = now;
  }

  /** Something has come. */
  void arrived(long now) {
    gap += Math.min(now - takenAt, LONGEST) - gap >> WEIGHT_LOG;
  }

  /** What has come is taken. */
  void taken(long now) {
    takenAt = now;
  }

  /** Until when it is worth to look for what comes next. */
  long until() {
    return looks && gap < SHORT ? takenAt + 2 * gap : takenAt;
  }
}
