package org.hghca.wire;

import java.util.EnumMap;
import java.util.Map;

/** How many packets were dropped for each cause. Written by one thread, read by any. */
public final class DropCounters {
  private static final DropCause[] CAUSES = DropCause.values();

  private final long[] counts = new long[CAUSES.length];

  /** A packet is dropped. */
  public void count(DropCause cause) {
    counts[cause.ordinal()]++;
  }

  /** How many were dropped for a cause. */
  public long of(DropCause cause) {
    return counts[cause.ordinal()];
  }

  /** How many were dropped for any cause. */
  public long total() {
    long total = 0;
    for (long count : counts) {
      total += count;
    }
    return total;
  }

  /** The causes that occurred, with their counts. */
  public Map<DropCause, Long> byCause() {
    Map<DropCause, Long> result = new EnumMap<>(DropCause.class);
    for (DropCause cause : CAUSES) {
      if (of(cause) > 0) {
        result.put(cause, of(cause));
      }
    }
    return result;
  }
}
