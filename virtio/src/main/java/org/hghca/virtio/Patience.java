package org.hghca.virtio;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.hghca.vfio.GiveWay;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.TimeScale;

/** Waiting for a device, in its own time scale. Immutable and thread-safe. */
final class Patience {
  /** Looks without a pause: a device in software answers within microseconds. */
  private static final int LOOKS = GiveWay.looks(200);

  private static final long SHORTEST_PAUSE = 20_000;
  private static final long LONGEST_PAUSE = 1_000_000;

  private final PciFunction function;
  private final TimeScale scale;

  Patience(PciFunction function) {
    this.function = function;
    this.scale = TimeScale.of(function.locator());
  }

  /**
   * Waits until something is so.
   *
   * @return whether it is so; after the time is over it is asked once more
   */
  boolean until(Duration limit, BooleanSupplier done) {
    long start = scale.nanoTime();
    long pause = SHORTEST_PAUSE;
    for (int look = 0; !done.getAsBoolean(); look++) {
      function.idle();
      if (look < LOOKS) {
        Thread.onSpinWait();
      } else if (scale.nanoTime() - start > limit.toNanos()) {
        return done.getAsBoolean();
      } else {
        scale.parkNanos(this, pause);
        pause = Math.min(2 * pause, LONGEST_PAUSE);
      }
    }
    return true;
  }
}
