package org.hghca.tools.raw;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.hghca.abi.Bar;
import org.hghca.mailbox.HcrProbe;
import org.hghca.vfio.PciFunction;

/**
 * A search for the HCR of a card, which ends at the first offset that has one, or where the card
 * does not answer.
 *
 * @param probes what was found at each offset that was accessed, in this order
 */
public record HcrSearch(List<HcrProbe> probes) {
  public HcrSearch {
    probes = List.copyOf(probes);
  }

  /**
   * Searches. The card must decode memory.
   *
   * @param beyond runs before an access that can stop a card of the makers' RTL
   * @param seen gets each result before the next access
   */
  public static HcrSearch of(
      PciFunction function, HcrPlaces places, Runnable beyond, Consumer<HcrProbe> seen) {
    List<HcrProbe> probes = new ArrayList<>();
    for (int at : places.offsets()) {
      if (at >= Bar.FORBIDDEN_RTL_FIRST) {
        beyond.run();
      }
      HcrProbe probe = HcrProbe.at(function, at);
      probes.add(probe);
      seen.accept(probe);
      if (probe.isHcr() || isSilent(probe)) {
        break;
      }
    }
    return new HcrSearch(probes);
  }

  /** The offset of the HCR in BAR0; empty when none was found. */
  public OptionalInt offset() {
    return last().isHcr() ? OptionalInt.of((int) last().base()) : OptionalInt.empty();
  }

  /** Whether the card did not answer: it is gone or has no clock, or a command hangs. */
  public boolean isSilent() {
    return isSilent(last());
  }

  private static boolean isSilent(HcrProbe probe) {
    return probe.finding() == HcrProbe.Finding.ALL_ONES || probe.finding() == HcrProbe.Finding.BUSY;
  }

  /** What ended the search. */
  public HcrProbe last() {
    return probes.getLast();
  }

  /** What was found, for the middle of a sentence. */
  public String text() {
    return probes.stream()
        .map(probe -> "BAR0 + 0x%05x %s".formatted(probe.base(), probe.describe()))
        .collect(Collectors.joining("; "));
  }
}
