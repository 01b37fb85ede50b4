package org.hghca.tools.bringup.data;

import java.time.Duration;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.verbs.Pair;
import org.hghca.tools.bringup.verbs.Transfers;
import org.hghca.tools.bringup.verbs.Transfers.Kind;
import org.hghca.verbs.QpType;

/** Messages of every length, and messages across every boundary, one at a time. */
final class Lengths {
  private static final int LONGEST = 520;

  /** Has no divisor in common with the number of lengths: each comes once, far from the last. */
  private static final int STRIDE = 199;

  private static final int BYTES = 64 * 1024;
  private static final int TARGET = 32 * 1024;
  private static final int LEAST = 48;
  private static final int[] BOUNDARIES = {128, 256, 4096};
  private static final int[] BEFORE = {1, 31, 32, 96};
  private static final int[] BEHIND = {1, 31, 32, 97, 224};
  private static final Kind[] KINDS = {Kind.WRITE, Kind.SEND, Kind.READ};

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
        int length = first + i * STRIDE % lengths;
        Kind kind = KINDS[i / lengths % KINDS.length];
        int from = i * 7 % 64;
        int to = TARGET + i * 5 % 16 * driver.abilities().destinationAlignment();
        transfers.move(o, kind, length, from, to);
        quota.did();
      }
    }
    quota.close(o, "messages");
  }

  /** Messages that begin before a boundary and end behind it, in their source and their target. */
  void acrossBoundaries(Observation o, Duration time) {
    o.expect(
        "messages across 128, 256 and 4,096 bytes, in their source and in their target, by WRITE,"
            + " SEND and READ");
    int planned = 2 * BOUNDARIES.length * BEFORE.length * BEHIND.length * KINDS.length;
    Quota quota = new Quota(time, planned, LEAST);
    try (Pair pair = new Pair(driver, QpType.RC, BYTES, 0).connect()) {
      Transfers transfers = new Transfers(driver, pair);
      for (int i = 0; quota.hasNext(); i++) {
        int boundary = BOUNDARIES[i % BOUNDARIES.length];
        int before = BEFORE[i / BOUNDARIES.length % BEFORE.length];
        int behind = BEHIND[i / BOUNDARIES.length / BEFORE.length % BEHIND.length];
        int rest = i / BOUNDARIES.length / BEFORE.length / BEHIND.length;
        boolean inTarget = rest % 2 == 0;
        Kind kind = KINDS[rest / 2 % KINDS.length];
        int back = inTarget ? aligned(before) : before;
        int from = 8192 + (inTarget ? 64 : boundary - back);
        int to = TARGET + (inTarget ? boundary - back : 1024);
        transfers.move(o, kind, back + behind, from, to);
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
