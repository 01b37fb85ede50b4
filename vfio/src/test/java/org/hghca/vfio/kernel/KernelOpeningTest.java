package org.hghca.vfio.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.util.List;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a function of the kernel's VFIO is opened, and which ones are refused. */
class KernelOpeningTest extends KernelFunctionFixture {
  @Test
  void orderIsGroupContainerIommuFunction() {
    open("").close();

    assertThat(vfio.calls.stream().filter(call -> !call.startsWith("p")).toList())
        .containsSubsequence(
            "VFIO_GROUP_GET_STATUS Group",
            "VFIO_GROUP_SET_CONTAINER Group",
            "VFIO_SET_IOMMU Container",
            "VFIO_GROUP_GET_DEVICE_FD Group",
            "VFIO_DEVICE_GET_INFO Device",
            "close Device",
            "close Group",
            "close Container");
  }

  @Test
  void ownNodeIsBoundToAnAddressSpaceAndIsPreferred() {
    machine.iommufd(CARD);

    open("").close();

    assertThat(vfio.calls.stream().filter(call -> !call.startsWith("p")).toList())
        .containsSubsequence(
            "IOMMU_IOAS_ALLOC Iommufd",
            "VFIO_DEVICE_BIND_IOMMUFD Device", // before all else of the function
            "VFIO_DEVICE_ATTACH_IOMMUFD_PT Device",
            "IOMMU_IOAS_IOVA_RANGES Iommufd", // after the function was attached
            "VFIO_DEVICE_GET_INFO Device",
            "VFIO_DEVICE_DETACH_IOMMUFD_PT Device",
            "close Device",
            "IOMMU_DESTROY Iommufd",
            "close Iommufd");
  }

  @Test
  void groupIsUsedWhenTheLocatorSaysSo() {
    machine.iommufd(CARD);

    open("iommu=group").close();

    assertThat(vfio.calls)
        .contains("VFIO_GROUP_GET_DEVICE_FD Group")
        .doesNotContain("VFIO_DEVICE_BIND_IOMMUFD Device");
  }

  @Test
  void functionNamesWhatTranslatesItsAccesses() {
    machine.iommufd(CARD);

    for (String mode : List.of("group", "iommufd")) {
      try (PciFunction function = open("iommu=" + mode)) {
        assertThat(function.iommuMode()).isEqualTo(mode);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "iommu=noiommu"})
  void functionWithoutAnIommuReachesNoOtherMemory(String parameters) {
    machine.text("/sys/kernel/iommu_groups/17/name", "vfio-noiommu\n");
    machine.node("/dev/vfio/noiommu-17");

    try (PciFunction function = open(parameters)) {
      assertThat(function.configuration().deviceId()).isEqualTo(0x9038);
      assertThat(function.iommuMode()).isEqualTo("noiommu");
      function.region(2).writeInt(0, 1);
      function.reset();
      assertThat(function.interrupts().vectors()).isEqualTo(32);
      assertReason(Reason.INVALID, () -> function.map(shared(4096), DmaAccess.READ))
          .hasMessageContainingAll("without an IOMMU", "protection domain");
    }
    assertThat(vfio.calls).contains("open " + machine.file("/dev/vfio/noiommu-17"));
  }

  @Test
  void containerWithoutTheSecondTypeUsesTheFirst() {
    vfio.secondType = false;

    try (PciFunction function = open("")) {
      assertThat(function.configuration().deviceId()).isEqualTo(0x9038);
    }
  }

  @Test
  void otherVersionOfTheInterfaceIsRefused() {
    vfio.api = 1;

    assertRefused("", Reason.UNSUPPORTED, "version 1 of VFIO");
  }

  @Test
  void iommuWithoutSmallPagesIsRefused() {
    vfio.pageSizes = 0x1_0000;

    assertRefused("", Reason.UNSUPPORTED, "0x10000", "4 KiB");
  }

  @Test
  void addressSpaceWithoutSmallPagesIsRefused() {
    machine.iommufd(CARD);
    vfio.alignment = 0x1_0000;

    assertRefused("", Reason.UNSUPPORTED, "0x10000", "4 KiB");
  }

  @Test
  void secondOpeningInOneProcessIsRefusedUntilTheClose() {
    try (PciFunction function = open("")) {
      assertRefused("", Reason.BUSY, CARD + " is open in this process");
      assertThat(function.configuration().deviceId()).isEqualTo(0x9038);
    }
    open("").close();
  }

  @Test
  void groupOpenInAnotherProcessIsBusy() {
    int other = vfio.system.open("/dev/vfio/17", 2);

    assertRefused("", Reason.BUSY, "cannot open", "/dev/vfio/17", "EBUSY");

    assertThat(vfio.system.close(other)).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fd=7",
        "iommufd=7",
        "container=fd:7",
        "fd=7&iommufd=8&container=fd:9",
        "fd=x&iommufd=7",
        "fd=-1&iommufd=7",
        "fd=7&iommufd=8&bind=true",
        "fd=7&iommufd=8&iommu=group",
        "bind=yes",
        "interrupts=some",
        "profile=s",
        "iommu=best"
      })
  void unknownParametersAreRefused(String parameters) {
    assertRefused(parameters, Reason.INVALID, "=");
    assertThat(vfio.calls).isEmpty();
  }

  @Test
  void parametersOfTheDriverAreAccepted() {
    open("as=r1&hcr=0x0&assumeClean=true&limit=PT5S&mac=02:00:00:00:00:01&ip=10.0.0.1&events=poll"
            + "&slow=2")
        .close();
  }

  @Test
  void functionIsBoundAndReturnedToItsDriver() {
    machine.wants(CARD, "hgrnic").driver(CARD, "hgrnic");
    machine.directory("/run");

    try (PciFunction function = open("bind=true")) {
      assertThat(new PciBus(machine).find(CARD).orElseThrow().isBoundToVfio()).isTrue();
      assertThat(function.configuration().deviceId()).isEqualTo(0x9038);
    }

    assertThat(new PciBus(machine).find(CARD).orElseThrow().driver()).contains("hgrnic");
  }

  @Test
  void functionThatCannotBeOpenedIsReturnedToItsDriver() {
    machine.wants(CARD, "hgrnic").driver(CARD, "hgrnic");
    machine.directory("/run");
    vfio.api = 1;

    assertRefused("bind=true", Reason.UNSUPPORTED, "version 1");

    assertThat(new PciBus(machine).find(CARD).orElseThrow().driver()).contains("hgrnic");
  }

  @Test
  void otherPlatformsAreRefused() {
    KernelProvider.checkPlatform("Linux", "amd64");
    assertThatThrownBy(() -> KernelProvider.checkPlatform("Linux", "aarch64"))
        .hasMessageContainingAll("x86-64", "aarch64");
    assertThatThrownBy(() -> KernelProvider.checkPlatform("Mac OS X", "amd64"))
        .isInstanceOf(VfioException.class);
  }
}
