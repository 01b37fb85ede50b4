package org.hghca.vfio.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiagnosisTest {
  private static final String CARD = "0000:03:00.0";

  @TempDir Path root;
  private FakeMachine machine;
  private PciDevice device;

  @BeforeEach
  void readyCard() {
    machine = new FakeMachine(root).readyCard(CARD);
    device = new PciBus(machine).find(CARD).orElseThrow();
  }

  private VfioException explain(Reason reason) {
    return Diagnosis.explain(
        machine, device, IommuMode.GROUP, new VfioException(reason, "cannot open it"));
  }

  private void assertExplained(Reason failure, Reason reason, String... texts) {
    VfioException explained = explain(failure);
    assertThat(explained.reason()).isEqualTo(reason);
    assertThat(explained).hasMessageStartingWith("cannot open it; ").hasMessageContainingAll(texts);
    assertThat(explained).hasCauseInstanceOf(VfioException.class);
  }

  @Test
  void failureWithoutAKnownCauseStaysUnchanged() {
    VfioException failure = new VfioException(Reason.UNSUPPORTED, "no");

    assertThat(Diagnosis.explain(machine, device, IommuMode.GROUP, failure)).isSameAs(failure);
  }

  @Test
  void removedCardIsReported() {
    machine.delete("/sys/bus/pci/devices/" + CARD);

    assertExplained(
        Reason.UNSUPPORTED, Reason.NOT_FOUND, CARD + " is no longer there", "/sys/bus/pci/rescan");
  }

  @Test
  void causeThatPreventsOpeningIsNamed() {
    machine.driver(CARD, "hgrnic");

    assertExplained(Reason.INVALID, Reason.BUSY, "the driver hgrnic", "sudo hghca bind " + CARD);
  }

  @Test
  void processThatHasTheFunctionOpenIsNamed() {
    machine.process(4711, "java", "/dev/vfio/17");

    assertExplained(
        Reason.BUSY,
        Reason.BUSY,
        "process 4711 (java) has " + machine.file("/dev/vfio/17") + " open",
        "fix: end it");
  }

  @Test
  void invisibleProcessNamesTheCommandToFindIt() {
    assertExplained(
        Reason.BUSY,
        Reason.BUSY,
        "another process",
        "sudo fuser -v " + machine.file("/dev/vfio/17"));
  }

  @Test
  void missingInterruptRemappingNamesTheOptionToTrustTheCard() {
    machine.directory("/sys/class/iommu/virtio0").text("/proc/interrupts", "IO-APIC 9-edge\n");

    assertExplained(
        Reason.NO_PERMISSION,
        Reason.NO_PERMISSION,
        "interrupts are not remapped",
        "allow_unsafe_interrupts");
  }

  @Test
  void refusalWithoutAModeNamesOtherCauses() {
    assertExplained(
        Reason.NO_PERMISSION, Reason.NO_PERMISSION, "--device", "DeviceAllow=", "sudo dmesg");
  }
}
