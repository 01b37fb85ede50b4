package org.hghca.tools.card;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.hghca.abi.Bar;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Hcr;
import org.hghca.mailbox.HcrProbe;

/** Where the HCR of a card may be, as its options say. */
final class HcrPlaces {
  private final Optional<HardwareProfile> profile;
  private final Optional<Long> named;

  HcrPlaces(CardOptions options) {
    profile = options.profile();
    named =
        options
            .locator()
            .parameter("hcr")
            .map(text -> Numbers.parse("hcr= of the locator", text, Integer.SIZE - 1));
    if (named.isPresent() && named.get() % Integer.BYTES != 0) {
      throw new RequestFailedException(
          "hcr=0x%x of the locator is not a multiple of 4".formatted(named.get()));
    }
  }

  /** The offsets in BAR0 in the order in which they are accessed: 0h always first. */
  List<Long> offsets() {
    long last = named.orElse(profile.map(p -> (long) p.hcrBase()).orElse((long) Bar.HCR_DOCUMENT));
    return last == Bar.HCR_RTL ? List.of(last) : List.of((long) Bar.HCR_RTL, last);
  }

  /** Where that of the named profile is. */
  long expected() {
    return named.orElse((long) profile.orElseThrow().hcrBase());
  }

  /** What was found, in one line. */
  static String describe(List<HcrProbe> all) {
    return all.stream()
        .map(probe -> "BAR0 + 0x%05x %s".formatted(probe.base(), probe.describe()))
        .collect(Collectors.joining("; "));
  }

  /** Whether a dword is that of go. */
  static boolean isCommand(long offset, Optional<Long> base) {
    return offset == base.orElse((long) Bar.HCR_RTL) + Hcr.COMMAND
        || offset == Bar.HCR_RTL + Hcr.COMMAND;
  }
}
