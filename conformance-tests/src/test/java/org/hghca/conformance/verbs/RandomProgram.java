package org.hghca.conformance.verbs;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A program of verbs: steps derived from a seed. Each step has a seed of its own, so that a prefix
 * of the program behaves as the same steps of the whole program.
 */
record RandomProgram(long seed, List<Step> steps) {

  /** A kind of step; its details follow from its own seed and from the existing objects. */
  enum Kind {
    SEND(40),
    RECEIVE(30),
    POLL(12),
    SETTLE(4),
    BAD_SEND(1),
    TO_ERROR(1),
    RECONNECT(3),
    RECREATE(1),
    NEW_REGION(2),
    END_REGION(1);

    private final int weight;

    Kind(int weight) {
      this.weight = weight;
    }
  }

  record Step(Kind kind, long seed) {}

  static RandomProgram of(long seed, int length) {
    SplittableRandom random = new SplittableRandom(seed);
    int total = 0;
    for (Kind kind : Kind.values()) {
      total += kind.weight;
    }
    List<Step> steps = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      int left = random.nextInt(total);
      Kind kind = Kind.SEND;
      for (Kind each : Kind.values()) {
        kind = each;
        left -= each.weight;
        if (left < 0) {
          break;
        }
      }
      steps.add(new Step(kind, random.nextLong()));
    }
    return new RandomProgram(seed, steps);
  }

  RandomProgram prefix(int length) {
    return new RandomProgram(seed, steps.subList(0, length));
  }
}
