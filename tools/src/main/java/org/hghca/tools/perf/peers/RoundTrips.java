package org.hghca.tools.perf.peers;

import java.util.Arrays;

/** Times of round trips. Not thread-safe. */
final class RoundTrips {
  private static final double NANOS = 1000;

  private final long[] times;
  private int count;
  private long before;

  RoundTrips(int most) {
    times = new long[most];
  }

  /** The first one begins now. */
  void begin() {
    before = System.nanoTime();
  }

  /** One has ended, and the next one begins. */
  void next() {
    long now = System.nanoTime();
    times[count++] = now - before;
    before = now;
  }

  /** The median of half of one, in microseconds. */
  double half() {
    Arrays.sort(times, 0, count);
    return times[count / 2] / (2 * NANOS);
  }
}
