package org.hghca.vfio.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.hghca.vfio.Locator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The kernel's side of a session consists of the recorded answers of Linux 6.12: QEMU's edu device
 * behind intel-iommu, by its IOMMU group.
 */
class RecordedFunctionTest {
  private static final String EDU = "0000:00:04.0";

  @TempDir Path root;

  @Test
  void sessionWithARealKernelIsReplayedCallByCall() {
    Recording recording = new Recording("edu-group.trace");
    FakeMachine machine = new FakeMachine(root);
    machine.function(EDU, "1234:11e8", "00ff00").driver(EDU, "vfio-pci").group(4, EDU);
    machine.node("/dev/vfio/vfio").node("/dev/vfio/4");
    machine.text("/proc/sys/kernel/osrelease", "6.12.9-amd64\n");
    KernelSystem system = new KernelSystem(recording.calls(), machine);

    String seen =
        RecordedSession.run(new KernelProvider(machine, system).open(Locator.parse("pci:" + EDU)));

    assertThat(seen)
        .isEqualTo(
            "id 1234, memory space true, BAR0 of 0x100000 bytes, mapped true, can reset false,"
                + " 1 vectors, 1 GiB at 0x200000");
    assertThat(recording.isAtItsEnd()).isTrue();
  }

  @Test
  void largeMemoryIsOneMappingInTheRecording() {
    assertThat(new Recording("edu-group.trace").lines)
        .filteredOn(line -> line.contains("VFIO_IOMMU_MAP_DMA"))
        .singleElement()
        .asString()
        // struct vfio_iommu_type1_dma_map: size at 24, little-endian
        .matches(".*\\{20000000.{40}0000004000000000\\}\\) = 0x0");
  }
}
