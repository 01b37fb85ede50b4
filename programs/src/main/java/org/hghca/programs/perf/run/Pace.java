package org.hghca.programs.perf.run;

import java.util.Optional;
import org.hghca.programs.perf.Parameters;

/** Keeps a rate limit: bursts whose beginnings have a fixed distance. Not thread-safe. */
final class Pace {
  private final boolean limited;
  private final long gap;
  private final int burst;
  private long next = System.nanoTime();
  private int left;

  Pace(Optional<Parameters.RateLimit> limit) {
    limited = limit.isPresent();
    burst = limit.map(Parameters.RateLimit::burst).orElse(0);
    gap = limit.map(l -> (long) (1e9 * l.burst() / l.messagesPerSecond())).orElse(0L);
  }

  /** Whether a message may go now. */
  boolean mayPost() {
    if (!limited || left > 0) {
      return true;
    }
    long now = System.nanoTime();
    if (now - next < 0) {
      return false;
    }
    next = now + gap;
    left = burst;
    return true;
  }

  /** Some messages have gone. */
  void posted(int messages) {
    left -= messages;
  }

  /** Whether the limit is what keeps messages back. */
  boolean isHolding() {
    return limited && left <= 0;
  }
}
