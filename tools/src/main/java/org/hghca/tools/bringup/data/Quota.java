package org.hghca.tools.bringup.data;

import java.time.Duration;
import org.hghca.tools.bringup.step.Observation;

/** How many items of a plan a step has done within its time. One thread. */
final class Quota {
  private final int planned;
  private final int least;
  private final Duration time;
  private final long start = System.nanoTime();
  private int done;

  /**
   * @param time after which no more items are started
   * @param planned number of items
   * @param least number of items without which the step is not judged
   */
  Quota(Duration time, int planned, int least) {
    this.time = time;
    this.planned = planned;
    this.least = least;
  }

  /** Whether to do another item. */
  boolean hasNext() {
    return room(0) > 0;
  }

  /**
   * How many more items to start.
   *
   * @param begun items that are begun and not done
   */
  int room(int begun) {
    return System.nanoTime() - start < time.toNanos() ? planned - done - begun : 0;
  }

  /** An item is done. */
  void did() {
    done++;
  }

  /** How many items are done. */
  int done() {
    return done;
  }

  /**
   * Says how many were done.
   *
   * @param items what an item is, in the plural
   * @throws org.hghca.tools.bringup.step.StepNotJudgedException when they were too few
   */
  void close(Observation o, String items) {
    o.saw("%,d of %,d %s".formatted(done, planned, items));
    if (done < Math.min(least, planned)) {
      throw Observation.notJudged(
          "%,d of %,d %s in %s, and %,d are needed: --budget gives more time"
              .formatted(done, planned, items, time, least));
    }
  }
}
