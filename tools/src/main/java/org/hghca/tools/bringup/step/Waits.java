package org.hghca.tools.bringup.step;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** The waits for answers of a device: one thread waits, any other may end that. */
public final class Waits {
  private static final int SPINS = 500;
  private static final long PAUSE_NANOS = 50_000;

  private volatile boolean ended;
  private long longest;

  /** Ends this wait and all later ones. */
  public void end() {
    ended = true;
  }

  /**
   * Waits until something holds.
   *
   * @return whether it held within the limit
   * @throws StepSkippedException when the waits have been ended
   */
  public boolean until(BooleanSupplier met, Duration limit) {
    long start = System.nanoTime();
    for (int polls = 0; !met.getAsBoolean(); polls++) {
      if (ended) {
        throw Observation.skip("interrupted");
      }
      if (System.nanoTime() - start > limit.toNanos()) {
        return false;
      }
      if (polls < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
    return true;
  }

  /** As {@link #until}, and remembers how long it took, if it came. */
  public boolean timed(BooleanSupplier met, Duration limit) {
    long start = System.nanoTime();
    boolean came = until(met, limit);
    longest = came ? Math.max(longest, System.nanoTime() - start) : longest;
    return came;
  }

  /** The longest time that a timed answer took: it tells how fast the device is. */
  public Duration longest() {
    return Duration.ofNanos(longest);
  }
}
