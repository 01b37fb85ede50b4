package org.hghca.driver;

import org.hghca.abi.HardwareProfile;
import org.hghca.verbs.Completions;
import org.hghca.verbs.QpType;

/**
 * Where the global route header of what a queue pair receives is.
 *
 * @param flags of every receive that succeeds
 * @param bytesBefore what the card does not count of a receive: where verbs have the header
 */
record GrhPlacement(int flags, int bytesBefore) {
  /** What verbs let are before the payload of every datagram, filled or not. */
  private static final int GRH_BYTES = 40;

  static GrhPlacement of(QpType type, HardwareProfile profile) {
    if (type != QpType.UD) {
      return new GrhPlacement(0, 0);
    }
    return profile.grhPlaced()
        ? new GrhPlacement(Completions.GRH, 0)
        : new GrhPlacement(0, GRH_BYTES);
  }
}
