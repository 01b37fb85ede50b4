package org.hghca.tools.bringup.data;

import java.time.Duration;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.verbs.Pair;
import org.hghca.tools.bringup.verbs.Transfers;
import org.hghca.tools.bringup.verbs.Transfers.Kind;
import org.hghca.verbs.QpType;

/**
 * Messages of every length, and messages across every boundary, one at a time. The first ones
 * differ in all ways at once: where time runs out, no kind and no boundary is left untested.
 */
final class Lengths {
  private static final int LONGEST = 520;

  /**
   * Has no divisor in common with the number of lengths, nor has the number of kinds; the first 48
   * lengths have each remainder modulo 32, and their gaps are at most 29.
   */
  private static final int STRIDE = 29;

  private static final int BYTES = 64 * 1024;
  private static final int TARGET = 32 * 1024;
  static final int LEAST = 48;
  private static final int[] BOUNDARIES = {128, 256, 4096};
  private static final int[] BEFORE = {1, 31, 32, 96};
  private static final int[] BEHIND = {1, 31, 32, 97, 224};
  private static final Kind[] KINDS = {Kind.WRITE, Kind.SEND, Kind.READ};

  /**
   * How a message crosses a boundary: bytes before it and behind it, in its target or its source.
   */
  record Crossing(Kind kind, int boundary, int before, int behind, boolean inTarget) {
    static final int ALL = KINDS.length * BOUNDARIES.length * BEFORE.length * BEHIND.length * 2;

    /**
     * All of them in an order in which every step changes the kind or the boundary, and the place.
     *
     * @param i from 0 to {@link #ALL} - 1
     */
    static Crossing of(int i) {
      // The two moduli have no divisor in common: each pair of remainders comes once.
      int what = i % (KINDS.length * BOUNDARIES.length);
      int where = i % (BEFORE.length * BEHIND.length * 2);
      return new Crossing(
          KINDS[what % KINDS.length],
          BOUNDARIES[what / KINDS.length],
          BEFORE[where / 2 % BEFORE.length],
          BEHIND[where / 2 / BEFORE.length],
          where % 2 == 0);
    }
  }

  private final Driver driver;

  Lengths(Driver driver) {
    this.driver = driver;
  }

  /** Every length, by WRITE, SEND and READ, from and to changing places. */
  void every(Observation o, Duration time) {
    int first = driver.abilities().zeroLength() ? 0 : 1;
    int lengths = LONGEST + 1 - first;
    o.expect(
        "each length from %d to %d by WRITE, SEND and READ; every byte in place, none around it"
                .formatted(first, LONGEST)
            + " changed");
    Quota quota = new Quota(time, lengths * KINDS.length, LEAST);
    try (Pair pair = new Pair(driver, QpType.RC, BYTES, 0).connect()) {
      Transfers transfers = new Transfers(driver, pair);
      for (int i = 0; quota.hasNext(); i++) {
        int length = length(i, first);
        Kind kind = kind(i);
        int from = i * 7 % 64;
        int to = TARGET + i * 5 % 16 * driver.abilities().destinationAlignment();
        transfers.move(o, kind, length, from, to);
        quota.did();
      }
    }
    quota.close(o, "messages");
  }

  /**
   * The length of a message: with {@link #kind} each pair comes once.
   *
   * @param first the shortest
   */
  static int length(int i, int first) {
    return first + i * STRIDE % (LONGEST + 1 - first);
  }

  static Kind kind(int i) {
    return KINDS[i % KINDS.length];
  }

  /** Messages that begin before a boundary and end behind it, in their source and their target. */
  void acrossBoundaries(Observation o, Duration time) {
    o.expect(
        "messages across 128, 256 and 4,096 bytes, in their source and in their target, by WRITE,"
            + " SEND and READ");
    Quota quota = new Quota(time, Crossing.ALL, LEAST);
    try (Pair pair = new Pair(driver, QpType.RC, BYTES, 0).connect()) {
      Transfers transfers = new Transfers(driver, pair);
      for (int i = 0; quota.hasNext(); i++) {
        Crossing crossing = Crossing.of(i);
        boolean inTarget = crossing.inTarget;
        int back = inTarget ? aligned(crossing.before) : crossing.before;
        int from = 8192 + (inTarget ? 64 : crossing.boundary - back);
        int to = TARGET + (inTarget ? crossing.boundary - back : 1024);
        transfers.move(o, crossing.kind, back + crossing.behind, from, to);
        quota.did();
      }
    }
    quota.close(o, "messages");
  }

  private int aligned(int before) {
    int alignment = driver.abilities().destinationAlignment();
    return (before + alignment - 1) / alignment * alignment;
  }
}
