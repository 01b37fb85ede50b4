package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.SplittableRandom;
import org.hghca.conformance.profile.TestTime;

/** Random messages in both directions of a connection at once, until all are done. */
final class HostileTraffic {
  /** Virtual time to advance when no packet moves. */
  private static final Duration STEP = Duration.ofNanos(20_000);

  /** Virtual time that may pass without progress: more than all retries take. */
  private static final int MOST_STEPS = 1_000_000;

  /** Maximum time without progress that the driver's threads may take. */
  private static final Duration LIMIT = TestTime.seconds(10);

  private final Fabric fabric;
  private final Side left;
  private final Side right;
  private final Flow rightward;
  private final Flow leftward;

  HostileTraffic(Fabric fabric, Side left, Side right, Flow.Plan plan, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    MemorySegment bytes = Flow.randomBytes(seed, plan.largestSize());
    this.fabric = fabric;
    this.left = left;
    this.right = right;
    this.rightward =
        new Flow(plan, left, right, random.split(), bytes, "seed %d, right".formatted(seed));
    this.leftward =
        new Flow(plan, right, left, random.split(), bytes, "seed %d, left".formatted(seed));
  }

  HostileTraffic(RcPair pair, Flow.Plan plan, long seed) {
    this(pair.fabric, pair.left, pair.right, plan, seed);
  }

  void run() {
    int idle = 0;
    long last = System.nanoTime();
    while (!rightward.isDone() || !leftward.isDone()) {
      boolean moved = rightward.run();
      if (leftward.run() || moved) {
        idle = 0;
        last = System.nanoTime();
      } else if (++idle > MOST_STEPS && System.nanoTime() - last > LIMIT.toNanos()) {
        throw new AssertionError("nothing moves: " + rightward + "; " + leftward);
      } else {
        fabric.advance(STEP);
      }
    }
    left.assertQuiet();
    right.assertQuiet();
    assertThat(rightward.completed() + leftward.completed()).isPositive();
    assertThat(rightward.isCountRight()).as("atomics of " + rightward).isTrue();
    assertThat(leftward.isCountRight()).as("atomics of " + leftward).isTrue();
  }
}
