package org.hghca.programs.perf.run;

import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.result.Course;

/**
 * The time of a measurement by time: a margin, what counts, and a margin. Both ends of what counts
 * are set by the first look after they are due. Not thread-safe.
 */
final class Window {
  /** Parts of the time whose messages are kept, so that a plot shows them. */
  private static final int PARTS = 100;

  private static final double SECOND = 1e9;

  private final long start;
  private final long margin;
  private final long whole;
  private long first = -1;
  private long last = -1;
  private long before;
  private long after;
  private final long[] ends = new long[PARTS];
  private final long[] counts = new long[PARTS];
  private int parts;
  private long due;

  /** Begins now. */
  Window(Parameters.Span span, long now) {
    start = now;
    margin = span.margin().toNanos();
    whole = span.whole().toNanos();
    due = whole / PARTS;
  }

  /**
   * Looks at the clock.
   *
   * @param done messages until now
   * @return whether the time is over
   */
  boolean look(long now, long done) {
    long elapsed = now - start;
    if (parts < PARTS && elapsed >= due) {
      part(elapsed, done);
    }
    if (first < 0 && elapsed >= margin) {
      first = elapsed;
      before = done;
    }
    if (last < 0 && first >= 0 && elapsed >= whole - margin) {
      end(elapsed, done);
    }
    return elapsed >= whole;
  }

  private void part(long elapsed, long done) {
    ends[parts] = elapsed;
    counts[parts] = done;
    parts++;
    due = elapsed + whole / PARTS;
  }

  /**
   * What was done in each part of the time, the margins included.
   *
   * @param size bytes of a message
   */
  Course course(long size) {
    double[] seconds = new double[parts];
    double[] perSecond = new double[parts];
    for (int i = 0; i < parts; i++) {
      long nanos = i == 0 ? ends[i] : ends[i] - ends[i - 1];
      long messages = i == 0 ? counts[i] : counts[i] - counts[i - 1];
      seconds[i] = ends[i] / SECOND;
      perSecond[i] = messages * SECOND / Math.max(1, nanos);
    }
    return new Course(size, seconds, perSecond);
  }

  /** Ends what counts, if it has begun and has not ended. */
  void stop(long now, long done) {
    if (first >= 0 && last < 0) {
      end(now - start, done);
    }
  }

  private void end(long elapsed, long done) {
    last = elapsed;
    after = done;
  }

  /** Messages that count. */
  long counted() {
    return after - before;
  }

  /** Nanoseconds in which they were counted; 0 when nothing counts yet. */
  long nanos() {
    return last < 0 ? 0 : last - first;
  }
}
