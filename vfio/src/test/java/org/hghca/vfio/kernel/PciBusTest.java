package org.hghca.vfio.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The facts of a function, from a tree with the layout of sysfs. */
class PciBusTest {
  private static final String CARD = "0000:03:00.0";

  @TempDir Path root;
  private FakeMachine machine;
  private PciBus bus;

  @BeforeEach
  void emptyMachine() {
    machine = new FakeMachine(root);
    bus = new PciBus(machine);
  }

  private PciDevice card() {
    return bus.find(CARD).orElseThrow();
  }

  @Test
  void machineWithoutPciHasNoFunctions(@TempDir Path empty) {
    machine = new FakeMachine(empty);

    assertThat(new PciBus(machine).devices()).isEmpty();
    assertThat(new PciBus(machine).find(CARD)).isEmpty();
  }

  @Test
  void numbersAreReadAsSysfsWritesThem() {
    machine.function(CARD, "10ee:9038", "020700");

    assertThat(card().vendorId()).isEqualTo(0x10ee);
    assertThat(card().deviceId()).isEqualTo(0x9038);
    assertThat(card().id()).isEqualTo("10ee:9038");
    assertThat(card().classCode()).isEqualTo(0x020700);
    assertThat(card().driver()).isEmpty();
    assertThat(card().driverOverride()).isEmpty();
    assertThat(card().group()).isEmpty();
    assertThat(card().resetMethods()).containsExactly("flr", "bus");
    assertThat(card().numaNode()).isEmpty();
    assertThat(card().vfioDevice()).isEmpty();
    assertThat(card()).hasToString("0000:03:00.0 [10ee:9038] class 020700, no driver");
  }

  @Test
  void attributesOfAFunctionAreRead() {
    machine
        .function(CARD, "10ee:9038", "020700")
        .driver(CARD, "vfio-pci")
        .iommufd(CARD)
        .text(FakeMachine.real(CARD) + "/driver_override", "vfio-pci\n")
        .text(FakeMachine.real(CARD) + "/numa_node", "1\n");

    assertThat(card().driver()).contains("vfio-pci");
    assertThat(card().isBoundToVfio()).isTrue();
    assertThat(card().driverOverride()).contains("vfio-pci");
    assertThat(card().numaNode()).isEqualTo(OptionalInt.of(1));
    assertThat(card().vfioDevice()).contains("vfio3");
    assertThat(card()).hasToString("0000:03:00.0 [10ee:9038] class 020700, driver vfio-pci");
  }

  @Test
  void sizesOfTheRegionsAreThoseOfTheFirstSixLines() {
    machine
        .function(CARD, "10ee:9038", "020700")
        .text(
            FakeMachine.real(CARD) + "/resource",
            """
            0x00000000fe000000 0x00000000fe0fffff 0x0000000000140204
            0x0000000000000000 0x0000000000000000 0x0000000000000000
            0x0000004000000000 0x0000004000007fff 0x000000000014220c
            0x0000000000000000 0x0000000000000000 0x0000000000000000
            0x0000000000000000 0x0000000000000000 0x0000000000000000
            0x0000000000000000 0x0000000000000000 0x0000000000000000
            0x00000000fe800000 0x00000000fe80ffff 0x0000000000046200
            """);

    assertThat(card().barSizes()).containsExactly(0x100000L, 0L, 0x8000L, 0L, 0L, 0L);
  }

  @Test
  void functionWithoutResourcesHasSixEmptyRegions() {
    machine.function(CARD, "10ee:9038", "020700");

    assertThat(card().barSizes()).containsExactly(0L, 0L, 0L, 0L, 0L, 0L);
  }

  @Test
  void resetOfAnOldKernelHasNoName() {
    machine.function("0000:04:00.0", "10ee:9038", "020700");
    machine.text(FakeMachine.real("0000:04:00.0") + "/reset_method", "");
    machine.link("/sys/bus/pci/devices/" + CARD, FakeMachine.real(CARD));
    machine.text(FakeMachine.real(CARD) + "/reset", "");

    assertThat(bus.find("0000:04:00.0").orElseThrow().resetMethods()).isEmpty();
    assertThat(card().resetMethods()).containsExactly("unnamed");
  }

  @Test
  void groupHasItsOtherFunctionsWithTheirDrivers() {
    machine
        .function(CARD, "10ee:9038", "020700")
        .function("0000:02:00.0", "8086:1901", "060400")
        .function("0000:03:00.1", "10ee:9039", "020000")
        .function("0000:03:00.2", "10ee:903a", "020000")
        .driver("0000:02:00.0", "pcieport")
        .driver("0000:03:00.1", "xhci_hcd")
        .group(17, CARD, "0000:02:00.0", "0000:03:00.1", "0000:03:00.2");

    IommuGroup group = card().group().orElseThrow();
    assertThat(group.number()).isEqualTo(17);
    assertThat(group.noiommu()).isFalse();
    assertThat(group.others())
        .containsExactly(
            new IommuGroup.Member("0000:02:00.0", Optional.of("pcieport")),
            new IommuGroup.Member("0000:03:00.1", Optional.of("xhci_hcd")),
            new IommuGroup.Member("0000:03:00.2", Optional.empty()));
    assertThat(group.obstacles())
        .extracting(IommuGroup.Member::address)
        .containsExactly("0000:03:00.1");
  }

  @Test
  void driversWithoutDmaLeaveTheGroupToTheUser() {
    for (String driver : List.of("vfio-pci", "mlx5_vfio_pci", "pci-stub", "pcieport")) {
      assertThat(new IommuGroup.Member(CARD, Optional.of(driver)).allowsUser()).isTrue();
    }
    assertThat(new IommuGroup.Member(CARD, Optional.of("nvme")).allowsUser()).isFalse();
  }

  @Test
  void groupWithoutIommuIsKnownByItsName() {
    machine
        .function(CARD, "10ee:9038", "020700")
        .group(0, CARD)
        .text("/sys/kernel/iommu_groups/0/name", "vfio-noiommu\n");

    assertThat(card().group().orElseThrow().noiommu()).isTrue();
  }

  @Test
  void functionsAreListedByAddressAndOtherEntriesAreNot() {
    machine
        .function("0000:81:00.1", "10ee:9038", "020700")
        .function(CARD, "1234:4843", "020700")
        .function("10000:e1:00.0", "8086:0a54", "010802")
        .directory("/sys/bus/pci/devices/other");

    assertThat(bus.devices())
        .extracting(PciDevice::address)
        .containsExactly(CARD, "0000:81:00.1", "10000:e1:00.0");
  }

  @Test
  void selectorWithoutMatchNamesTheCommandToListFunctions() {
    assertReason(Reason.NOT_FOUND, () -> bus.select(FunctionSelector.parse("id=10ee:9038")))
        .hasMessage("no PCI function with id 10ee:9038: `lspci -Dnn` lists those that are there");
  }

  @Test
  void selectorThatMatchesSeveralListsThem() {
    machine
        .function(CARD, "10ee:9038", "020700")
        .function("0000:04:00.0", "15b3:1017", "020700")
        .driver("0000:04:00.0", "mlx5_core");

    assertReason(Reason.INVALID, () -> bus.select(FunctionSelector.parse("class=0207")))
        .hasMessage(
            "2 PCI functions of class 0207, name one by its address:"
                + " 0000:03:00.0 [10ee:9038] class 020700, no driver;"
                + " 0000:04:00.0 [15b3:1017] class 020700, driver mlx5_core");
    assertThat(bus.select(FunctionSelector.parse("id=10ee:9038")).address()).isEqualTo(CARD);
  }
}
