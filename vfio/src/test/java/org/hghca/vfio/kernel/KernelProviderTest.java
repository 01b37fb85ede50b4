package org.hghca.vfio.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.nio.file.Path;
import org.hghca.vfio.Locator;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which functions are found, and what prevents opening one, on a fake machine. */
class KernelProviderTest {
  private static final String CARD = "0000:03:00.0";

  @TempDir Path root;
  private FakeMachine machine;

  @BeforeEach
  void emptyMachine() {
    machine = new FakeMachine(root);
  }

  @AfterEach
  void forgetIds() {
    System.clearProperty(KnownIds.PROPERTY);
  }

  private KernelProvider provider() {
    return new KernelProvider(machine);
  }

  private void assertRefused(String locator, Reason reason, String... message) {
    assertReason(reason, () -> provider().open(Locator.parse(locator)))
        .hasMessageContainingAll(message);
  }

  @Test
  void schemeIsPci() {
    assertThat(provider().scheme()).isEqualTo("pci");
  }

  @Test
  void textThatNamesNoFunctionIsRefused() {
    assertRefused("pci:../../../etc", Reason.INVALID, "'../../../etc'", "0000:03:00.0");
    assertRefused("pci:", Reason.INVALID, "''", "0000:03:00.0");
  }

  @Test
  void missingCardIsNamed() {
    assertRefused("pci:" + CARD, Reason.NOT_FOUND, "no PCI function at " + CARD, "lspci -Dnn");
  }

  @Test
  void locatorIsResolvedToTheAddressAndKeepsItsParameters() {
    machine.readyCard(CARD);

    for (String name : new String[] {"03:00.0", "0000:03:00.0", "id=10ee:9038", "class=0207"}) {
      assertThat(provider().resolve(Locator.parse("pci:" + name + "?as=r1")))
          .isEqualTo(Locator.parse("pci:0000:03:00.0?as=r1"));
    }
  }

  @Test
  void addressIsUsedAsIsWhereTheFunctionIsNotVisible() {
    assertThat(provider().resolve(Locator.parse("pci:0A:00.0?fd=7&iommufd=8")))
        .isEqualTo(Locator.parse("pci:0000:0a:00.0?fd=7&iommufd=8"));
    assertThatThrownBy(() -> provider().resolve(Locator.parse("pci:id=10ee:9038")))
        .isInstanceOf(VfioException.class)
        .hasMessageContaining("no PCI function with id 10ee:9038");
  }

  @Test
  void functionWithoutDriverNamesTheCommandToBindIt() {
    machine.readyCard("0000:04:00.0").function(CARD, "10ee:9038", "020700").group(18, CARD);

    assertRefused(
        "pci:" + CARD,
        Reason.BUSY,
        CARD + " is bound to no driver, not to vfio-pci",
        "sudo hghca bind 0000:03:00.0");
  }

  @Test
  void functionOfAnotherDriverNamesTheCommandToRebindIt() {
    machine.readyCard(CARD).driver(CARD, "hgrnic");

    assertRefused(
        "pci:" + CARD,
        Reason.BUSY,
        CARD + " is bound to the driver hgrnic",
        "sudo hghca bind 0000:03:00.0");
  }

  @Test
  void functionWithoutIommuGroupNamesTheKernelOption() {
    machine.function(CARD, "10ee:9038", "020700").driver(CARD, "vfio-pci");

    assertRefused(
        "pci:" + CARD,
        Reason.UNSUPPORTED,
        CARD + " has no IOMMU group",
        "intel_iommu=on",
        "AMD-Vi");
  }

  @Test
  void groupSharedWithAnotherDriverIsNamed() {
    machine
        .readyCard(CARD)
        .function("0000:03:00.1", "10ee:9039", "020000")
        .driver("0000:03:00.1", "xhci_hcd")
        .group(17, "0000:03:00.1");

    assertRefused(
        "pci:" + CARD,
        Reason.BUSY,
        "IOMMU group 17 of 0000:03:00.0 is not viable: 0000:03:00.1 has the driver xhci_hcd",
        "sudo hghca bind 0000:03:00.1");
  }

  @Test
  void missingNodeIsNamed() {
    machine.function(CARD, "10ee:9038", "020700").driver(CARD, "vfio-pci").group(17, CARD);

    assertRefused(
        "pci:" + CARD,
        Reason.NOT_FOUND,
        machine.file("/dev/vfio/vfio") + " does not exist",
        "modprobe vfio-pci");
  }

  @Test
  void nodeWithoutPermissionIsNamedWithTheFix() {
    machine.readyCard(CARD).forbid("/dev/vfio/17");
    Path node = machine.file("/dev/vfio/17");

    assertRefused(
        "pci:" + CARD,
        Reason.NO_PERMISSION,
        "no permission to read and write " + node,
        CARD,
        "sudo chown alice " + node,
        "tools/udev/60-hghca-vfio.rules");
  }

  @Test
  void unknownModeIsRefused() {
    machine.readyCard(CARD);

    assertRefused(
        "pci:" + CARD + "?iommu=yes",
        Reason.INVALID,
        "iommu=yes: expected auto or iommufd or group or noiommu");
  }

  @Test
  void functionsBoundToVfioAreListedInOrder() {
    machine
        .readyCard("0000:81:00.1")
        .readyCard(CARD)
        .function("0000:04:00.0", "10ee:9038", "020700")
        .driver("0000:04:00.0", "nvme");

    assertThat(provider().enumerate())
        .containsExactly(Locator.parse("pci:0000:03:00.0"), Locator.parse("pci:0000:81:00.1"));
  }

  @Test
  void onlyFunctionsWithConfiguredIdsAreListed() {
    machine
        .readyCard(CARD)
        .function("0000:81:00.0", "10de:2204", "030000")
        .driver("0000:81:00.0", "vfio-pci");
    assertThat(provider().enumerate()).hasSize(2);

    System.setProperty(KnownIds.PROPERTY, "1234:4843, 10EE:9038");
    assertThat(provider().enumerate()).containsExactly(Locator.parse("pci:0000:03:00.0"));
  }

  @Test
  void malformedIdIsNamedWithItsProperty() {
    System.setProperty(KnownIds.PROPERTY, "10ee:9038,10ee");

    assertThatThrownBy(() -> provider().enumerate())
        .isInstanceOf(VfioException.class)
        .hasMessageContainingAll("--ids", "-Dhghca.ids", "'10ee'", "10ee:9038");
  }

  @Test
  void withoutVfioNothingIsListed() {
    assertThat(provider().enumerate()).isEmpty();
  }
}
