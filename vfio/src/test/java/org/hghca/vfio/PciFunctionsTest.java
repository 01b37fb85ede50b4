package org.hghca.vfio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.Test;

class PciFunctionsTest {

  @Test
  void schemeChoosesTheBackend() {
    try (PciFunction function = PciFunctions.open(Locator.parse("stub:x?y=1"))) {
      assertThat(function.locator()).hasToString("stub:x?y=1");
      assertThat(function.region(0).size()).isEqualTo(0x1000);
    }
  }

  @Test
  void unknownSchemeNamesTheKnownOnes() {
    assertThatThrownBy(() -> PciFunctions.open(Locator.parse("pcie:0000:03:00.0")))
        .isInstanceOfSatisfying(
            VfioException.class, e -> assertThat(e.reason()).isEqualTo(Reason.NOT_FOUND))
        .hasMessageContainingAll("'pcie:0000:03:00.0'", " pci:, ", " stub:, ", " vfio-user:");
  }

  @Test
  void kernelBackendIsAmongThem() {
    assertThatThrownBy(() -> PciFunctions.open(Locator.parse("pci:nonsense")))
        .isInstanceOf(VfioException.class)
        .hasMessageContaining("names no PCI function");
  }

  @Test
  void locatorThatOnlySelectsIsResolvedByItsBackend() {
    assertThat(PciFunctions.resolve(Locator.parse("stub:x?y=1"))).hasToString("stub:X?y=1");
    assertThat(PciFunctions.resolve(Locator.parse("nosuch:x"))).hasToString("nosuch:x");
  }

  @Test
  void functionsOfAllBackendsAreListedInOrder() {
    assertThat(PciFunctions.enumerate())
        .isSorted()
        .containsSubsequence(Locator.parse("stub:a"), Locator.parse("stub:b"));
  }
}
