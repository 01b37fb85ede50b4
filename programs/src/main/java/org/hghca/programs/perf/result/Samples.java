package org.hghca.programs.perf.result;

import java.util.Arrays;

/**
 * When messages of a throughput test were posted and completed: the first and the last of all, and
 * each one when the peak is searched. Not thread-safe.
 */
public final class Samples {
  private final long size;
  private final long[] posted;
  private final long[] completed;
  private long start;
  private long end;

  /**
   * No messages yet.
   *
   * @param size bytes of a message
   * @param count messages whose times are kept; 0 for no peak
   */
  public Samples(long size, int count) {
    this.size = size;
    posted = new long[count];
    completed = new long[count];
  }

  /** The measurement begins. */
  public void start(long now) {
    start = now;
    end = now;
  }

  /** A message, or the first of a list, is about to be posted. */
  public void posted(int number) {
    if (number < posted.length) {
      posted[number] = System.nanoTime();
    }
  }

  /** A completion was taken, for all messages up to a number. */
  public void completed(int number) {
    if (number < completed.length) {
      completed[number] = System.nanoTime();
    }
  }

  /** The result of a number of messages that began with {@link #start} and ends now. */
  public BandwidthResult result(long messages) {
    end = System.nanoTime();
    return new BandwidthResult(size, messages, end - start, peakNanos(posted, completed));
  }

  /** The result of a measurement by time. */
  public BandwidthResult result(long messages, long nanos) {
    return new BandwidthResult(size, messages, nanos, 0);
  }

  /**
   * The least time of a message over all parts from a post to a completion: the part that began
   * with message i and ended with message j had j - i + 1 messages.
   *
   * @param posted time of each post; 0 where a list has no time of its own
   * @param completed time of each completion; 0 where there was none
   * @return nanoseconds of a message; 0 without any part
   */
  static double peakNanos(long[] posted, long[] completed) {
    double least = 0;
    int[] ends = new int[completed.length];
    int count = 0;
    for (int j = 0; j < completed.length; j++) {
      if (completed[j] != 0) {
        ends[count++] = j;
      }
    }
    for (int i = 0; i < posted.length; i++) {
      if (posted[i] == 0) {
        continue;
      }
      int from = Arrays.binarySearch(ends, 0, count, i);
      for (int k = from < 0 ? -from - 1 : from; k < count; k++) {
        int j = ends[k];
        double nanos = (double) (completed[j] - posted[i]) / (j - i + 1);
        if (least == 0 || nanos < least) {
          least = nanos;
        }
      }
    }
    return least;
  }
}
