package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.SplittableRandom;

/** Random messages in both directions of a connection at once, until all are done. */
final class HostileTraffic {
  /** How much virtual time passes when nothing moves. */
  private static final Duration STEP = Duration.ofNanos(20_000);

  /** How much virtual time may pass in which nothing moves: more than all retries take. */
  private static final int MOST_STEPS = 1_000_000;

  private final RcPair pair;
  private final Flow rightward;
  private final Flow leftward;

  HostileTraffic(RcPair pair, Flow.Plan plan, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    MemorySegment bytes = Flow.randomBytes(seed, plan.largestSize());
    this.pair = pair;
    this.rightward =
        new Flow(
            plan, pair.left, pair.right, random.split(), bytes, "seed %d, right".formatted(seed));
    this.leftward =
        new Flow(
            plan, pair.right, pair.left, random.split(), bytes, "seed %d, left".formatted(seed));
  }

  void run() {
    int idle = 0;
    while (!rightward.isDone() || !leftward.isDone()) {
      if (rightward.run() | leftward.run()) {
        idle = 0;
      } else if (idle++ == MOST_STEPS) {
        throw new AssertionError("nothing moves: " + rightward + "; " + leftward);
      } else {
        pair.fabric.advance(STEP);
      }
    }
    pair.left.assertQuiet();
    pair.right.assertQuiet();
    assertThat(rightward.completed() + leftward.completed()).isPositive();
  }
}
