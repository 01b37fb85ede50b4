package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.hghca.abi.Bar;
import org.hghca.abi.Hcr;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LocatorTest {
  private final ModelProvider provider = new ModelProvider();

  private PciFunction open(String locator) {
    return provider.open(Locator.parse(locator));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "model:x?colour=red | unknown parameter 'colour'; known are as, assumeClean,"
            + " assumeProfile, cable, capture, corrupt, deadlock, delay, drop, duplicate,"
            + " eqEntries, events, fault, hcr, hub, inflight, interrupts, ip",
        "model:x?race=on | race= and deadlock= are defects of profile r1",
        "model:x?profile=r1&race=yes | race=yes is unknown; known are off, on",
        "model:x?mode=fast | mode=fast is unknown; known are threaded, inline",
        "model:x?profile=t | profile=t is unknown; known are s, r1, r2",
        "model:x?reset=soft | reset=soft is unknown; known are function, none",
        "model:x?interrupts=intx | interrupts=intx is unknown; known are msix, none",
        "model:x?capture=/no/where.pcapng | capture: /no/where.pcapng cannot be written: its folder"
            + " must exist",
        "model:x?capture=/ | capture: / cannot be written: Is a directory",
        "model:x?capture= | capture: it names no file",
        "model:x?mac=zz | mac",
        "model:x?ip=1.2.3 | ip",
        "model:x?net=udp:127.0.0.1&cable=c | plugged into cable= or into net=, not into both",
        "model:x?net=udp:127.0.0.1&mode=inline | net= needs the system's clock",
        "model:x?net=udp:127.0.0.1&profile=r1 | the RTL's packets need Ethernet frames",
        "model:x?net=udp:127.0.0.1&profile=r2 | net= is for profile=s and profile=r1",
        "model:x?net=udp:127.0.0.1&drop=2 | drop is 2.0: give a rate of 0 to 1",
        "model:x?net=udp:127.0.0.1&sports=1025 | sports=1025 must be from 0 to 1024",
        "model:x?net=udp:127.0.0.1&sports=some | sports=some is not a whole number",
        "model:x?spin=yes | spin=yes is unknown; known are off, on",
        "model:x?spin=on&mode=inline | spin=on needs the system's clock",
        "model:x?sports=1 | sports= belongs to a network",
        "model:x?share=true | share= belongs to a network",
        "model:x?net=packet:no-such&share=true | there is no interface of that name",
        "model:x?net=udp:127.0.0.22&ip=127.0.0.23 | the port has the addresses of net=: leave out"
            + " ip=",
        "model:x?net=tcp | is no link: give shm:NAME to share memory",
        "model:x?net=udp:198.51.100.1 | no interface of this machine has the address"
      })
  void aWrongParameterIsNamedWithTheKnownOnes(String locator, String message) {
    assertReason(Reason.INVALID, () -> open(locator)).hasMessageContaining(message);
  }

  @Test
  void cardThatHasOnlyFramesIsNotOnUdp() {
    Locator locator = Locator.parse("virtio:x?net=udp:127.0.0.21&roce=none");
    assertReason(Reason.INVALID, () -> VirtioProvider.plugIn(locator))
        .hasMessageContaining("net=udp: carries RoCE only: give net=tap:");
  }

  @Test
  void hcaHasTheAddressThatItsPortIsBoundTo() {
    try (PciFunction function = open("model:x?net=udp:127.0.0.21")) {
      SoftwareHca hca = ModelProvider.hca(function.locator()).orElseThrow();
      assertThat(hca.address().ip()).isEqualTo(0x7f00_0015);
      assertThat(hca.linkCounters().orElseThrow().sent()).isZero();
      assertBusy(() -> open("model:x?ip=127.0.0.22"));
      assertBusy(() -> open("model:y?net=udp:127.0.0.21"));
      assertBusy(() -> open("model:x?net=udp:127.0.0.22"));
    }
    open("model:y?net=udp:127.0.0.21").close();
    open("model:z?net=udp:127.0.0.22&ip=127.0.0.22").close();
  }

  @ParameterizedTest
  @CsvSource({"r1", "r2"})
  void rtlHasItsHcrAtZero(String profile) {
    try (PciFunction function = open("model:x?mode=inline&profile=" + profile)) {
      MmioRegion registers = function.region(Bar.BAR0);
      registers.writeInt(Hcr.TOKEN, 0x5aa5_1234);
      assertThat(registers.readInt(Hcr.TOKEN)).isEqualTo(0x5aa5_0000);
    }
  }

  @Test
  void parametersOfTheDriverAreAccepted() {
    open("model:x?mode=inline&as=s&hcr=0x80000&assumeClean=true&slow=1000&events=poll").close();
  }

  @Test
  void failedCaptureLeavesTheNameFree() {
    assertThatThrownBy(() -> open("model:x?capture=/")).isInstanceOf(VfioException.class);
    open("model:x").close();
  }

  @Test
  void locatorIsOpenOnceAtATime() {
    for (String locator : new String[] {"model:twice", "model:twice?mode=inline"}) {
      try (PciFunction first = open(locator)) {
        assertThat(first.locator()).isEqualTo(Locator.parse(locator));
        assertBusy(() -> open(locator));
      }
      open(locator).close();
    }
  }

  @Test
  void nameIsUsedOncePerSimulation() {
    try (PciFunction first = open("model:name")) {
      assertBusy(() -> open("model:name?ip=10.0.0.9"));
      assertThat(first.locator().name()).isEqualTo("name");
    }
  }

  @Test
  void cableHasTwoEnds() {
    try (Simulation simulation = Simulation.inline("ends");
        PciFunction a = open("model:a?sim=ends&cable=k");
        PciFunction b = open("model:b?sim=ends&cable=k")) {
      assertThat(ModelProvider.hca(a.locator()).orElseThrow().cable().orElseThrow().isUp())
          .isTrue();
      assertBusy(() -> open("model:c?sim=ends&cable=k"));
      assertThat(simulation.isInline()).isTrue();
      assertThat(b.locator().name()).isEqualTo("b");
    }
  }

  private static void assertBusy(ThrowingCallable open) {
    assertReason(Reason.BUSY, open);
  }

  @Test
  void simulationMustExistAndHaveTheRequestedMode() {
    assertThatThrownBy(() -> open("model:x?sim=nowhere"))
        .hasMessageContaining("Simulation.inline(\"nowhere\")");
    try (Simulation simulation = Simulation.inline("modes")) {
      assertThatThrownBy(() -> open("model:x?sim=modes&mode=threaded"))
          .hasMessageContaining("is not threaded");
      open("model:x?sim=modes&mode=inline").close();
      assertBusy(() -> Simulation.inline("modes"));
      assertThat(simulation.now()).isZero();
    }
    Simulation.inline("modes").close();
  }

  @Test
  void providerIsFoundByItsSchemeAndListsNothing() {
    try (PciFunction function = PciFunctions.open(Locator.parse("model:found"))) {
      assertThat(ModelProvider.hca(function.locator())).isPresent();
    }
    assertThat(provider.scheme()).isEqualTo("model");
    assertThat(provider.enumerate()).isEmpty();
  }
}
