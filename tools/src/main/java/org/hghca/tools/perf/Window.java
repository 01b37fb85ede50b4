package org.hghca.tools.perf;

/**
 * The time of a measurement by time: a margin, what counts, and a margin. Both ends of what counts
 * are set by the first look after they are due. Not thread-safe.
 */
final class Window {
  private final long start;
  private final long margin;
  private final long whole;
  private long first = -1;
  private long last = -1;
  private long before;
  private long after;

  /** Begins now. */
  Window(Parameters.Span span, long now) {
    start = now;
    margin = span.margin().toNanos();
    whole = span.whole().toNanos();
  }

  /**
   * Looks at the clock.
   *
   * @param done messages until now
   * @return whether the time is over
   */
  boolean look(long now, long done) {
    long elapsed = now - start;
    if (first < 0 && elapsed >= margin) {
      first = elapsed;
      before = done;
    }
    if (last < 0 && first >= 0 && elapsed >= whole - margin) {
      end(elapsed, done);
    }
    return elapsed >= whole;
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
