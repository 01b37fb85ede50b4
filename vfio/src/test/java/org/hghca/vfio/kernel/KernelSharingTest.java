package org.hghca.vfio.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.PciFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Functions of the kernel's VFIO that share a group, a container or an open descriptor. */
class KernelSharingTest extends KernelFunctionFixture {
  @Test
  void functionsOfOneGroupShareItAndItsAddresses() {
    FakeCard second = second(17);
    MemorySegment memory = shared(4096);

    PciFunction one = open("");
    long first = one.map(memory, DmaAccess.READ).iova(0);
    try (PciFunction other = open(second.address, "")) {
      assertThat(other.map(memory, DmaAccess.READ).iova(0)).isEqualTo(first);
      one.close();
      assertThat(vfio.mapped()).containsKey(first);
      assertThat(other.configuration().deviceId()).isEqualTo(0x9038);
    }
    assertThat(vfio.calls.stream().filter("VFIO_GROUP_SET_CONTAINER Group"::equals)).hasSize(1);
  }

  @Test
  void functionsOfOneGroupCannotHaveTwoContainers() {
    FakeCard second = second(17);

    try (PciFunction one = open("container=a")) {
      assertThatThrownBy(() -> open(second.address, "container=b"))
          .hasMessageContainingAll("group 17", "'a'");
      assertThat(one.configuration().deviceId()).isEqualTo(0x9038);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"group", "iommufd"})
  void functionsThatNameOneContainerShareItsAddresses(String way) {
    FakeCard second = second(18);
    machine.iommufd(CARD);
    String shared = "iommu=%s&container=ours".formatted(way);

    try (PciFunction one = open(shared);
        PciFunction other = open(second.address, shared)) {
      MemorySegment memory = shared(8192);
      long first = one.map(memory, DmaAccess.READ_WRITE).iova(0);
      assertThat(other.map(memory, DmaAccess.READ_WRITE).iova(0)).isEqualTo(first);
      assertThat(vfio.mapped()).isEqualTo(Map.of(first, 8192L));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"group", "iommufd"})
  void functionsWithoutAContainerNameHaveTheirOwn(String way) {
    FakeCard second = second(18);
    machine.iommufd(CARD);

    try (PciFunction one = open("iommu=" + way);
        PciFunction other = open(second.address, "iommu=" + way)) {
      long first = one.map(shared(4096), DmaAccess.READ).iova(0);
      assertThat(other.map(shared(4096), DmaAccess.READ).iova(0)).isEqualTo(first);
    }
  }

  @Test
  void containersOfTwoModesAreNotMixed() {
    FakeCard second = second(18);
    machine.iommufd(CARD);

    try (PciFunction one = open("iommu=group&container=ours")) {
      assertThatThrownBy(() -> open(second.address, "iommu=iommufd&container=ours"))
          .hasMessageContaining("'ours'");
      assertThat(one.configuration().deviceId()).isEqualTo(0x9038);
    }
  }

  @Test
  void smallerAddressRangeOfAFunctionLimitsTheContainer() {
    FakeCard second = second(18);
    vfio.ranges = new long[][] {{0, 0x1_ffff}, {1L << 32, (1L << 33) - 1}};

    try (PciFunction one = open("container=ours")) {
      vfio.ranges = new long[][] {{1L << 32, (1L << 33) - 1}};
      try (PciFunction other = open(second.address, "container=ours")) {
        assertThat(one.map(shared(4096), DmaAccess.READ).iova(0)).isEqualTo(1L << 32);
        assertThat(other.map(shared(4096), DmaAccess.READ).iova(0)).isEqualTo((1L << 32) + 4096);
      }
    }
  }

  @Test
  void functionOpenedByAnotherProcessIsUsedAndLeftOpen() {
    int device = vfio.openDevice(card, true);
    int iommufd = vfio.openIommufd();
    String descriptors = "fd=%d&iommufd=%d".formatted(device, iommufd);

    for (int i = 0; i < 2; i++) { // a descriptor is bound once
      try (PciFunction function = open(descriptors)) {
        assertThat(function.configuration().deviceId()).isEqualTo(0x9038);
        function.configuration().busMaster(true);
        assertThat(function.interrupts().vectors()).isEqualTo(32);
        function.map(shared(4096), DmaAccess.READ);
      }
      // The kernel cleans up only after the last descriptor: this process must.
      assertThat(vfio.mapped()).isEmpty();
      assertThat(card.isBusMaster()).isFalse();
      assertThat((Object[]) card.signals).containsOnlyNulls();
    }
    assertThat(vfio.leaks()).hasSize(2);
    assertThat(vfio.system.close(device)).isZero();
    assertThat(vfio.system.close(iommufd)).isZero();
  }

  @Test
  void inheritedFunctionAndContainerAreUsedAndLeftOpen() {
    int device = vfio.openDevice(card, false);
    int container = vfio.openContainer();

    try (PciFunction function = open("fd=%d&container=fd:%d".formatted(device, container))) {
      assertThat(function.configuration().deviceId()).isEqualTo(0x9038);
      function.map(shared(4096), DmaAccess.READ);
      assertThat(vfio.mapped()).hasSize(1);
    }

    assertThat(vfio.mapped()).isEmpty();
    assertThat(vfio.leaks()).hasSize(2);
    assertThat(vfio.system.close(device)).isZero();
    assertThat(vfio.system.close(container)).isZero();
  }
}
