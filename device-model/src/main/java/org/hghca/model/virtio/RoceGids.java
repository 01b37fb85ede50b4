package org.hghca.model.virtio;

import java.util.Arrays;

/** The GIDs of the port, as the driver has set them. */
final class RoceGids {
  private final long[] high = new long[RoceLimits.GIDS];
  private final long[] low = new long[RoceLimits.GIDS];

  /** Whether there is a GID at an index, which may be any. */
  boolean has(int index) {
    return index < high.length && (high[index] | low[index]) != 0;
  }

  /** The upper half of the GID at an index. */
  long high(int index) {
    return high[index];
  }

  /** The lower half. */
  long low(int index) {
    return low[index];
  }

  /** Whether there is such a GID; :: is none. */
  boolean contains(long upper, long lower) {
    for (int i = 0; (upper | lower) != 0 && i < high.length; i++) {
      if (high[i] == upper && low[i] == lower) {
        return true;
      }
    }
    return false;
  }

  /** Sets a GID, or with 0 removes it; returns false where no index is or was. */
  boolean set(int index, long upper, long lower) {
    if (index >= high.length || (upper | lower) == 0 && !has(index)) {
      return false;
    }
    high[index] = upper;
    low[index] = lower;
    return true;
  }

  void clear() {
    Arrays.fill(high, 0);
    Arrays.fill(low, 0);
  }
}
