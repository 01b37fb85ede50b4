package org.hghca.tools.raw;

import java.util.List;
import java.util.Optional;
import org.hghca.abi.Bar;
import org.hghca.abi.HardwareProfile;
import org.hghca.vfio.DriverParameter;
import org.hghca.vfio.Locator;

/**
 * Where the HCR of a card may be.
 *
 * @param named the offset in BAR0 that the user has named, by itself or by a profile; empty when
 *     none is named
 * @param assumed whether no other offset may be accessed
 */
public record HcrPlaces(Optional<Integer> named, boolean assumed) {

  /**
   * What a locator and a profile name.
   *
   * @param profile the one that the user has named
   * @throws IllegalArgumentException when hcr= in the locator is not an offset
   */
  public static HcrPlaces of(Locator locator, Optional<HardwareProfile> profile) {
    Optional<Integer> offset = locator.parameter(DriverParameter.HCR.key()).map(HcrPlaces::offset);
    boolean assumed =
        locator
            .parameter(DriverParameter.ASSUME_PROFILE.key())
            .map(Boolean::parseBoolean)
            .orElse(false);
    return new HcrPlaces(offset.or(() -> profile.map(HardwareProfile::hcrBase)), assumed);
  }

  private static int offset(String text) {
    try {
      int offset = Integer.decode(text);
      if (offset >= 0 && offset % Integer.BYTES == 0) {
        return offset;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw new IllegalArgumentException(
        "hcr=%s in the locator is not an offset in BAR0, a multiple of 4 such as 0x80000"
            .formatted(text));
  }

  /** The offsets in the order in which they are to be probed: a read of 80000h can stop the RTL. */
  public List<Integer> offsets() {
    int last = named.orElse(Bar.HCR_DOCUMENT);
    return last == Bar.HCR_RTL || named.isPresent() && assumed
        ? List.of(last)
        : List.of(Bar.HCR_RTL, last);
  }

  /** Whether an HCR at an offset is not the one that the user has named. */
  public boolean contradict(int found) {
    return named.isPresent() && named.get() != found;
  }
}
