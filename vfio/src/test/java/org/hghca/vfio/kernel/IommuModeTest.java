package org.hghca.vfio.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IommuModeTest {
  private static final String CARD = "0000:03:00.0";

  @TempDir Path root;
  private FakeMachine machine;

  @BeforeEach
  void readyCard() {
    machine = new FakeMachine(root).readyCard(CARD);
  }

  private IommuMode choose(String wanted) {
    return IommuMode.choose(machine, device(), wanted);
  }

  private PciDevice device() {
    return new PciBus(machine).find(CARD).orElseThrow();
  }

  @Test
  void groupIsUsedWhereTheKernelHasNothingElse() {
    assertThat(choose(IommuMode.AUTO)).isEqualTo(IommuMode.GROUP);
    assertThat(IommuMode.GROUP.nodes(machine, device()))
        .containsExactly(machine.file("/dev/vfio/vfio"), machine.file("/dev/vfio/17"));
  }

  @Test
  void iommufdIsUsedWhereTheKernelHasIt() {
    machine.iommufd(CARD);

    assertThat(choose(IommuMode.AUTO)).isEqualTo(IommuMode.IOMMUFD);
    assertThat(IommuMode.IOMMUFD.nodes(machine, device()))
        .containsExactly(machine.file("/dev/iommu"), machine.file("/dev/vfio/devices/vfio3"));
  }

  @Test
  void vfioDeviceWithoutNodeIsNotUsed() {
    machine.directory(FakeMachine.real(CARD) + "/vfio-dev/vfio3").node("/dev/iommu");

    assertThat(choose(IommuMode.AUTO)).isEqualTo(IommuMode.GROUP);
  }

  @Test
  void accessibleModeIsPreferred() {
    machine.iommufd(CARD).forbid("/dev/iommu");
    assertThat(choose(IommuMode.AUTO)).isEqualTo(IommuMode.GROUP);

    machine.forbid("/dev/vfio/17");
    assertThat(choose(IommuMode.AUTO)).isEqualTo(IommuMode.IOMMUFD);
  }

  @Test
  void modeOfTheLocatorIsUsed() {
    machine.iommufd(CARD);

    assertThat(choose("group")).isEqualTo(IommuMode.GROUP);
    assertThat(choose("iommufd")).isEqualTo(IommuMode.IOMMUFD);
    assertThat(choose("noiommu")).isEqualTo(IommuMode.NOIOMMU);
  }

  @Test
  void noiommuIsUsedOnlyForItsGroup() {
    machine.node("/dev/vfio/noiommu-17");
    assertThat(choose(IommuMode.AUTO)).isEqualTo(IommuMode.GROUP);

    machine.text("/sys/kernel/iommu_groups/17/name", "vfio-noiommu\n");
    assertThat(choose(IommuMode.AUTO)).isEqualTo(IommuMode.NOIOMMU);
    assertThat(IommuMode.NOIOMMU.nodes(machine, device()))
        .containsExactly(machine.file("/dev/vfio/vfio"), machine.file("/dev/vfio/noiommu-17"));
  }
}
