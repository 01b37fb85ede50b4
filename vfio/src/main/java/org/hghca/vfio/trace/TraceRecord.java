package org.hghca.vfio.trace;

/**
 * What was recorded of an event: times of {@link System#nanoTime}, and four numbers whose meaning
 * its kind knows.
 *
 * @param begin when software saw it, or when it began
 * @param end when it ended; {@link #INSTANT} if it took no time
 */
public record TraceRecord(
    TraceKind kind, long begin, long end, long first, long second, long third, long fourth) {

  /** In place of an end. */
  static final long INSTANT = Long.MIN_VALUE;

  boolean isSpan() {
    return end != INSTANT;
  }

  TraceText text() {
    return kind.text(this);
  }
}
