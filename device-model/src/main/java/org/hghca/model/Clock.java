package org.hghca.model;

import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The clock of a simulation, in nanoseconds: that of the system, or one that stands still until it
 * is advanced. To be asked and advanced under the simulation's lock, or when nothing advances it.
 */
final class Clock {
  private final boolean virtual;
  private long now;

  /**
   * @param virtual whether it stands still
   */
  Clock(boolean virtual) {
    this.virtual = virtual;
  }

  /** The time since it was made, or since some moment of the system's clock. */
  long nanos() {
    return virtual ? now : System.nanoTime();
  }

  /** Advances a virtual clock, unless it shows a later time. */
  void advanceTo(long nanos) {
    now = Math.max(now, nanos);
  }

  /** The clock of captures: since 1970, or since a virtual clock was made. */
  LongSupplier ofCaptures() {
    if (virtual) {
      return this::nanos;
    }
    Instant instant = Instant.now();
    long offset =
        TimeUnit.SECONDS.toNanos(instant.getEpochSecond()) + instant.getNano() - System.nanoTime();
    return () -> offset + System.nanoTime();
  }
}
