package org.hghca.wire.link;

import java.util.SplittableRandom;

/**
 * The answer to the queries of one family: at most one is pending and one under way, however many
 * queries come. It begins at a random time within the maximum response time of the query, and tells
 * of a few groups at once, so that a thousand of them fill no queue. Not thread-safe.
 */
final class GroupAnswer {
  /** The most groups at once. */
  static final int AT_ONCE = 64;

  /** Nanoseconds until the next ones. */
  static final long PAUSE = 1_000_000;

  /** The least nanoseconds from the start of an answer to the start of the next one. */
  static final long GAP = 100_000_000;

  private final SplittableRandom random;

  /** When the pending answer begins. */
  private long start = Long.MAX_VALUE;

  private long earliest = Long.MIN_VALUE;

  /** The only group that the pending answer is about; 0 when it is about all of them. */
  private long onlyHigh;

  private long onlyLow;

  /** What the answer under way is about, upper and lower half of each group in turn. */
  private long[] groups = {};

  private int told;
  private long due;

  GroupAnswer(SplittableRandom random) {
    this.random = random;
  }

  /**
   * A query; one that finds another one's answer pending shares it.
   *
   * @param high upper half of the group; 0, with {@code low} 0, for all
   * @param response the maximum response time in nanoseconds
   */
  void queried(long high, long low, long response, long now) {
    boolean isFirst = start == Long.MAX_VALUE;
    boolean isAlike = isFirst || onlyHigh == high && onlyLow == low;
    onlyHigh = isAlike ? high : 0;
    onlyLow = isAlike ? low : 0;
    start = Math.min(start, Math.max(earliest, now + random.nextLong(response + 1)));
  }

  /** Whether the pending answer is to begin. */
  boolean starts(long now) {
    return told == groups.length && start <= now;
  }

  /**
   * Begins the pending answer.
   *
   * @param all the port's groups of the family, which stay as they are
   */
  void start(long[] all, long now) {
    groups = (onlyHigh | onlyLow) == 0 ? all : new long[] {onlyHigh, onlyLow};
    told = 0;
    due = now;
    start = Long.MAX_VALUE;
    earliest = now + GAP;
  }

  /** Proceeds to the next group; returns false when none is due. */
  boolean next(long now) {
    if (told == groups.length || due > now) {
      return false;
    }
    told += 2;
    if (told % (2 * AT_ONCE) == 0) {
      due = now + PAUSE;
    }
    return true;
  }

  /** Upper half of the group that {@link #next} has found. */
  long high() {
    return groups[told - 2];
  }

  /** Its lower half. */
  long low() {
    return groups[told - 1];
  }

  /** When it begins or continues; {@link Long#MAX_VALUE} without a query. */
  long due() {
    return told < groups.length ? due : start;
  }

  /** The port is at another network, whose queries are to come. */
  void clear() {
    start = Long.MAX_VALUE;
    groups = new long[0];
    told = 0;
  }
}
