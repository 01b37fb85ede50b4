package org.hghca.driver.completion;

import org.hghca.abi.HardwareProfile;
import org.hghca.verbs.Completions;
import org.hghca.verbs.QpType;

/**
 * The placement of the global route header of received messages.
 *
 * @param flags of every receive that succeeds
 * @param bytesBefore number of bytes that the card does not count: where verbs define the header
 */
public record GrhPlacement(int flags, int bytesBefore) {
  /** The bytes that verbs reserve before the payload of every datagram, filled or not. */
  private static final int GRH_BYTES = 40;

  public static GrhPlacement of(QpType type, HardwareProfile profile) {
    if (type != QpType.UD) {
      return new GrhPlacement(0, 0);
    }
    return profile.grhPlaced()
        ? new GrhPlacement(Completions.GRH, 0)
        : new GrhPlacement(0, GRH_BYTES);
  }
}
