package org.hghca.model.fault;

import java.util.TreeMap;
import org.hghca.abi.Bar;
import org.hghca.model.card.PciIdentity;

/** A function that has other regions or vectors. */
final class ChangedIdentity extends Injection {
  private static final int SAME = 0;

  private final long bar2;
  private final int vectors;

  private ChangedIdentity(long bar2, int vectors) {
    this.bar2 = bar2;
    this.vectors = vectors;
  }

  /** Another size of BAR2. */
  static ChangedIdentity bar2(long bytes) {
    return new ChangedIdentity(bytes, SAME);
  }

  /** Fewer interrupt vectors. */
  static ChangedIdentity vectors(int number) {
    return new ChangedIdentity(SAME, number);
  }

  @Override
  PciIdentity identity(PciIdentity of) {
    TreeMap<Integer, Long> regions = new TreeMap<>(of.regions());
    if (bar2 != SAME) {
      regions.put(Bar.BAR2, bar2);
    }
    return new PciIdentity(
        of.vendorId(),
        of.deviceId(),
        of.classCode(),
        regions,
        vectors == SAME ? of.vectors() : Math.min(vectors, of.vectors()),
        of.additions());
  }
}
