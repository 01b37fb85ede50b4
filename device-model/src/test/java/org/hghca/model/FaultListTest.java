package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.hghca.abi.Bar;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.vfio.Locator;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Which faults there are, and who can play them. */
class FaultListTest {
  private static SoftwareHca plugIn(String card, String fault) {
    return card.equals("virtio")
        ? VirtioProvider.plugIn(Locator.parse("virtio:listed?mode=inline" + fault))
        : ModelProvider.plugIn(
            Locator.parse("model:listed?mode=inline&profile=%s%s".formatted(card, fault)));
  }

  static Stream<CardFault> faults() {
    return CardFault.all().stream();
  }

  @Test
  void namesAreDistinctAndWords() {
    assertThat(CardFault.all()).hasSizeGreaterThan(40);
    assertThat(CardFault.all()).extracting(CardFault::name).doesNotHaveDuplicates();
    assertThat(CardFault.all()).allSatisfy(fault -> assertThat(fault.name()).matches("[a-z0-9-]+"));
  }

  @Test
  void legalVariationsAreThoseThatABringUpPasses() {
    assertThat(CardFault.all().stream().filter(CardFault::legal).map(CardFault::name))
        .containsExactlyInAnyOrder(
            "slow-commands",
            "slow-completion",
            "one-vector",
            "large-bar2",
            "small-limits",
            "other-guid");
    assertThat(CardFault.all())
        .allSatisfy(
            fault ->
                assertThat(fault.conclusion().equals("none: PASSED"))
                    .as(fault.name())
                    .isEqualTo(fault.legal()));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void eachCardPlaysItsFaultsAndRefusesTheOthers(CardFault fault) {
    for (String card : List.of("s", "r1", "r2", "virtio")) {
      if (fault.cards().contains(card)) {
        plugIn(card, "&fault=" + fault.name()).close();
      } else {
        assertReason(Reason.INVALID, () -> plugIn(card, "&fault=" + fault.name()))
            .hasMessageContaining(
                "fault=%s is for %s, not for %s",
                fault.name(), String.join(", ", fault.cards()), card);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"s,foo", "virtio,foo", "s,''", "r1,NO-CQE"})
  void unknownFaultIsRefused(String card, String fault) {
    assertReason(Reason.INVALID, () -> plugIn(card, "&fault=" + fault))
        .hasMessageContaining("fault=%s is unknown: `hghca model faults` lists them", fault);
  }

  /** A host without memory that counts the runs that are asked of it. */
  private static final class Runs extends EmptyHost {
    final AtomicInteger begun = new AtomicInteger();

    @Override
    public long beginRun() {
      return begun.getAndIncrement();
    }
  }

  @Test
  void cardWithoutFaultHasNothingBetweenItAndItsHost() {
    List<Integer> runs = new ArrayList<>();
    for (String fault : List.of("", "&fault=other-guid")) {
      try (SoftwareHca card = plugIn("s", fault)) {
        Runs bus = new Runs();
        card.attach(bus);
        int command = Hcr.command(HcrCommand.NOP.code(), 0);
        card.write(Bar.BAR0, Bar.HCR_DOCUMENT + Hcr.COMMAND, 4, command);
        runs.add(bus.begun.get());
      }
    }
    assertThat(runs.getFirst()).isPositive();
    assertThat(runs.getLast()).isZero();
  }
}
