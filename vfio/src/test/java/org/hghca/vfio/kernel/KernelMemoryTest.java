package org.hghca.vfio.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.vfio.testing.Failures.assertReason;

import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The memory that a function of the kernel's VFIO reaches, its addresses, and the causes of
 * failures.
 */
class KernelMemoryTest extends KernelFunctionFixture {
  @Test
  void contiguousMemoryOfAnySizeIsOneMapping() {
    long bytes = 1L << 30;
    try (PciFunction function = open("")) {
      vfio.calls.clear();

      DmaMapping mapping =
          function.map(FakeVfio.memory(0x7f00_0000_0000L, bytes), DmaAccess.READ_WRITE);

      assertThat(vfio.calls).containsExactly("VFIO_IOMMU_MAP_DMA Container");
      assertThat(vfio.mapped()).containsValue(bytes).hasSize(1);
      mapping.close();
      assertThat(vfio.mapped()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"group", "iommufd"})
  void addressesAreAllocatedFromTheKernelsRanges(String way) {
    machine.iommufd(CARD);
    vfio.ranges = new long[][] {{0, 0x1_ffff}, {0x10_0000, 0x10_7fff}, {1L << 32, (1L << 33) - 1}};

    try (PciFunction function = open("iommu=" + way)) {
      assertThat(function.map(shared(0x1_0000), DmaAccess.READ).iova(0)).isEqualTo(0x1_0000);
      assertThat(function.map(shared(0x8000), DmaAccess.READ).iova(0)).isEqualTo(0x10_0000);
      assertThat(function.map(shared(0x8000), DmaAccess.READ).iova(0)).isEqualTo(1L << 32);
    }
  }

  @Test
  void interruptAddressesAreAvoidedWithoutKernelRanges() {
    vfio.tellsRanges = false;
    long bytes = 1L << 30;

    try (PciFunction function = open("")) {
      for (int i = 0; i < 6; i++) {
        // The fake kernel refuses addresses in 0xfee00000 to 0xfeefffff.
        function.map(
            FakeVfio.memory(0x7f00_0000_0000L + 2L * i * bytes, bytes), DmaAccess.READ_WRITE);
      }
      assertThat(vfio.mapped()).hasSize(6);
    }
  }

  @Test
  void addressSpaceWithManyRangesReportsThemAll() {
    machine.iommufd(CARD);
    vfio.ranges = new long[20][];
    for (int i = 0; i < 20; i++) {
      vfio.ranges[i] = new long[] {(i + 1L) << 20, ((i + 1L) << 20) + 0xfff};
    }

    try (PciFunction function = open("")) {
      for (int i = 0; i < 20; i++) {
        assertThat(function.map(shared(4096), DmaAccess.READ).iova(0)).isEqualTo((i + 1L) << 20);
      }
    }
  }

  private void assertNotMapped(int answer, Reason reason, String... message) {
    vfio.mapAnswer = answer;
    try (PciFunction function = open("")) {
      assertReason(reason, () -> function.map(shared(8192), DmaAccess.READ_WRITE))
          .hasMessageContainingAll(message)
          .hasMessageContaining("0x2000 bytes");
    }
  }

  @Test
  void limitOfLockedMemoryIsNamedWithItsValue() {
    machine.text("/proc/self/status", "CapEff:\t0000000000000000\n");
    assertNotMapped(
        -12, Reason.NO_MEMORY, "RLIMIT_MEMLOCK is 8 MiB for this process", "ulimit -l", "65535");
  }

  @Test
  void limitOfLockedMemoryIsNotNamedWhereItDoesNotApply() {
    assertNotMapped(-12, Reason.NO_MEMORY, "CAP_IPC_LOCK", "control group");
    machine.text("/proc/self/status", "CapEff:\t0000000000000000\n");
    machine.text("/proc/self/limits", "Max locked memory         unlimited   unlimited    bytes\n");
    assertNotMapped(-12, Reason.NO_MEMORY, "RLIMIT_MEMLOCK is unlimited", "control group");
  }

  @Test
  void memoryLeftInAContainerByAnEarlierProcessIsNamed() {
    assertNotMapped(-17, Reason.BUSY, "EEXIST", "must reopen it");
  }

  @Test
  void limitOfMappingsIsNamed() {
    assertNotMapped(-28, Reason.NO_MEMORY, "dma_entry_limit");
  }

  @Test
  void limitOfMappingsIsNamedWhenNoneIsLeft() {
    vfio.mappingsLeft = 0;
    assertNotMapped(-12, Reason.NO_MEMORY, "dma_entry_limit");
  }

  @ParameterizedTest
  @ValueSource(ints = {-14, -95, -22})
  void ordinaryFileMemoryIsNamedWhereTheKernelRefusesToPinIt(int answer) {
    assertNotMapped(answer, Reason.INVALID, "ordinary file", "tmpfs", "hugetlbfs", "memfd");
  }
}
