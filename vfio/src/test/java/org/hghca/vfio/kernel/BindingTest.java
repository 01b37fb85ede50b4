package org.hghca.vfio.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import jnr.posix.POSIX;
import jnr.posix.POSIXFactory;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On a simulated machine whose drivers take functions as the kernel's do. */
class BindingTest {
  private static final String CARD = "0000:03:00.0";
  private static final String SECOND = "0000:03:00.1";
  private static final String DIRECTORY = "/sys/bus/pci/devices/" + CARD;

  @TempDir Path root;
  private FakeMachine machine;
  private Binding binding;

  @BeforeEach
  void cardOfAnotherDriver() {
    machine = new FakeMachine(root);
    machine.directory("/sys/bus/pci/drivers/vfio-pci");
    machine.function(CARD, "10ee:9038", "020700").group(17, CARD);
    machine.driver(CARD, "hgrnic").wants(CARD, "hgrnic");
    binding = new Binding(machine);
  }

  private PciDevice device(String address) {
    return new PciBus(machine).find(address).orElseThrow();
  }

  private void bind(String... addresses) {
    binding.bind(List.of(addresses).stream().map(this::device).toList());
  }

  private void assertNotBound(Reason reason, String... message) {
    assertReason(reason, () -> bind(CARD)).hasMessageContainingAll(message);
    assertThat(machine.writes()).isEmpty();
    assertThat(device(CARD).driver()).contains("hgrnic");
  }

  @Test
  void functionIsBoundToVfioAndBackToItsDriver() {
    bind(CARD);
    assertThat(device(CARD).driver()).contains("vfio-pci");
    assertThat(machine.writes())
        .containsExactly(
            "echo vfio-pci > " + DIRECTORY + "/driver_override",
            "echo 0000:03:00.0 > " + DIRECTORY + "/driver/unbind",
            "echo 0000:03:00.0 > /sys/bus/pci/drivers_probe");

    machine.writes().clear();
    assertThat(new Binding(machine).unbind(device(CARD))).contains("hgrnic");
    assertThat(device(CARD).driver()).contains("hgrnic");
    assertThat(device(CARD).driverOverride()).isEmpty();
    assertThat(machine.writes())
        .containsExactly(
            "echo > " + DIRECTORY + "/driver_override",
            "echo 0000:03:00.0 > " + DIRECTORY + "/driver/unbind",
            "echo 0000:03:00.0 > /sys/bus/pci/drivers_probe");
    assertThat(machine.file("/run/hghca/" + CARD)).doesNotExist();
  }

  /** Who can write it chooses the driver that the superuser binds later. */
  @Test
  void recordIsTheOwnersWhateverTheUmask() throws IOException {
    Path record = machine.file("/run/hghca/" + CARD);
    POSIX posix = POSIXFactory.getNativePOSIX();
    int before = posix.umask(0);
    try {
      bind(CARD);
      assertThat(mode(record)).isEqualTo("rw-r--r--");
      assertThat(mode(record.getParent())).isEqualTo("rwxr-xr-x");
      binding.unbind(device(CARD));
      Files.createFile(record);
      bind(CARD);
      assertThat(mode(record)).isEqualTo("rw-r--r--");
    } finally {
      posix.umask(before);
    }
  }

  private static String mode(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  @Test
  void functionWithoutADriverHasNoneAfterwards() {
    machine.function(SECOND, "10ee:9038", "020700").group(18, SECOND);
    bind(SECOND);
    machine.wants(SECOND, "hgrnic"); // loaded since

    assertThat(binding.unbind(device(SECOND))).isEmpty();
    assertThat(device(SECOND).driver()).isEmpty();
    assertThat(device(SECOND).driverOverride()).isEmpty();
  }

  @Test
  void functionBoundElsewhereGoesToItsDefaultDriver() {
    machine.driver(CARD, "vfio-pci").text(FakeMachine.real(CARD) + "/driver_override", "vfio-pci");

    assertThat(binding.unbind(device(CARD))).contains("hgrnic");
  }

  @Test
  void earlierOverrideIsRestored() {
    machine.text(FakeMachine.real(CARD) + "/driver_override", "hgrnic-test\n");
    machine.driver(CARD, "hgrnic-test");

    bind(CARD);

    assertThat(binding.unbind(device(CARD))).contains("hgrnic-test");
    assertThat(device(CARD).driverOverride()).contains("hgrnic-test");
  }

  @Test
  void boundFunctionStaysUnchanged() {
    machine.driver(CARD, "vfio-pci").user(1000, 0);

    bind(CARD);

    assertThat(machine.writes()).isEmpty();
  }

  @Test
  void commandsAreShownToEveryUserAndChangeNothing() {
    machine.user(1000, 0);

    assertThat(binding.commandsToBind(List.of(device(CARD))))
        .containsExactly(
            "echo vfio-pci > " + DIRECTORY + "/driver_override",
            "echo 0000:03:00.0 > " + DIRECTORY + "/driver/unbind",
            "echo 0000:03:00.0 > /sys/bus/pci/drivers_probe");
    machine.driver(CARD, "vfio-pci");
    assertThat(binding.commandsToUnbind(device(CARD)))
        .containsExactly(
            "echo > " + DIRECTORY + "/driver_override",
            "echo 0000:03:00.0 > " + DIRECTORY + "/driver/unbind",
            "echo 0000:03:00.0 > /sys/bus/pci/drivers_probe");
    assertThat(machine.writes()).isEmpty();
  }

  @Test
  void onlyRootMayBindAndTheMessageSaysSo() {
    machine.user(1000, 0);

    assertNotBound(Reason.NO_PERMISSION, "only root", "sudo hghca bind " + CARD);
    machine.driver(CARD, "vfio-pci");
    assertThatThrownBy(() -> binding.unbind(device(CARD)))
        .isInstanceOf(VfioException.class)
        .hasMessageContaining("sudo hghca unbind " + CARD);
  }

  @Test
  void driverThatIsNotLoadedIsNamed(@TempDir Path empty) {
    machine = new FakeMachine(empty);
    machine.function(CARD, "10ee:9038", "020700").group(17, CARD).driver(CARD, "hgrnic");
    binding = new Binding(machine);

    assertNotBound(Reason.NOT_FOUND, "vfio-pci is not loaded", "sudo modprobe vfio-pci");
  }

  @Test
  void bridgeIsNeverBound() {
    machine.text(FakeMachine.real(CARD) + "/class", "0x060400\n");

    assertNotBound(Reason.INVALID, CARD, "is a bridge");
  }

  @Test
  void functionWithoutIommuIsNotBound(@TempDir Path other) {
    machine = new FakeMachine(other);
    machine.directory("/sys/bus/pci/drivers/vfio-pci");
    machine.function(CARD, "10ee:9038", "020700").driver(CARD, "hgrnic");
    binding = new Binding(machine);
    assertNotBound(Reason.UNSUPPORTED, CARD + " has no IOMMU group", "intel_iommu=on");

    machine.text(Vfio.NOIOMMU_MODE, "Y\n");
    bind(CARD);
    assertThat(device(CARD).driver()).contains("vfio-pci");
  }

  @Test
  void groupSharedWithAnotherDriverIsBoundTogetherOrNotAtAll() {
    machine.function(SECOND, "10ee:9039", "020000").group(17, SECOND).driver(SECOND, "xhci_hcd");

    assertNotBound(
        Reason.BUSY,
        CARD + " shares IOMMU group 17 with 0000:03:00.1 (driver xhci_hcd)",
        "sudo hghca bind 0000:03:00.0 0000:03:00.1");

    bind(CARD, SECOND);
    assertThat(device(CARD).driver()).contains("vfio-pci");
    assertThat(device(SECOND).driver()).contains("vfio-pci");
  }

  @Test
  void interfaceThatIsUpIsRefused() {
    machine.function(SECOND, "10ee:9039", "020000").network(SECOND, "eth1", true);
    machine.network(CARD, "eth0", true);
    assertNotBound(Reason.BUSY, "network interface eth0 is up", "sudo ip link set eth0 down");

    machine.network(CARD, "eth0", false);
    bind(CARD);
    assertThat(device(CARD).driver()).contains("vfio-pci");
  }

  @Test
  void mountedDiskIsRefused() {
    machine.disk(CARD, "nvme0n1", "259:0");
    for (String line :
        List.of(
            "23 1 259:0 / / rw,noatime shared:1 - ext4 /dev/root rw",
            "23 1 0:30 / / rw shared:1 - btrfs /dev/nvme0n1 rw")) {
      machine.text("/proc/self/mountinfo", "22 1 0:21 / /sys rw - sysfs sysfs rw\n" + line + "\n");
      assertNotBound(Reason.BUSY, "its disk nvme0n1 is mounted", "sudo umount /dev/nvme0n1");
    }

    machine.text("/proc/self/mountinfo", "23 1 259:1 / / rw - ext4 /dev/nvme1n1 rw\n");
    machine.text("/proc/swaps", "Filename Type\n/dev/nvme0n1 partition 1000 0 -2\n");
    assertNotBound(Reason.BUSY, "its disk nvme0n1 is mounted or swapped to");

    machine.text("/proc/swaps", "Filename Type\n");
    machine.directory(FakeMachine.real(CARD) + "/nvme/nvme0/nvme0n1/holders/dm-0");
    assertNotBound(Reason.BUSY, "its disk nvme0n1 is part of another");
  }

  @Test
  void unusedDiskIsBound() {
    machine.disk(CARD, "nvme0n1", "259:0");

    bind(CARD);

    assertThat(device(CARD).driver()).contains("vfio-pci");
  }

  @Test
  void functionThatVfioRefusesIsRestored() {
    machine.unwilling("vfio-pci");

    assertThatThrownBy(() -> bind(CARD))
        .isInstanceOf(VfioException.class)
        .hasMessageContainingAll("vfio-pci did not accept " + CARD, "dmesg");
    assertThat(device(CARD).driver()).contains("hgrnic");
    assertThat(device(CARD).driverOverride()).isEmpty();
    assertThat(machine.file("/run/hghca/" + CARD)).doesNotExist();
  }

  @Test
  void refusalOfTheKernelIsReportedAndUndone() {
    machine.refuse("/sys/bus/pci/drivers_probe");

    assertThatThrownBy(() -> bind(CARD))
        .isInstanceOf(VfioException.class)
        .hasMessageContainingAll(
            CARD + " could not be bound to vfio-pci", "the kernel does not want it");
    assertThat(device(CARD).driverOverride()).isEmpty();
  }

  @Test
  void functionOfAnotherDriverIsNotUnbound() {
    assertReason(Reason.INVALID, () -> binding.unbind(device(CARD)))
        .hasMessageContainingAll(CARD, "driver hgrnic", "is not bound to vfio-pci");
  }

  @Test
  void openFunctionIsNotUnbound() {
    machine.readyCard(SECOND).iommufd(SECOND);
    for (String node : List.of("/dev/vfio/17", "/dev/vfio/devices/vfio3")) {
      machine.process(4711, "java", node);

      assertReason(Reason.BUSY, () -> binding.unbind(device(SECOND)))
          .hasMessageContaining("process 4711 (java) has it open");
    }

    machine.process(4711, "java", "/dev/vfio/18");
    assertThat(binding.unbind(device(SECOND))).isEmpty();
  }

  @Test
  void malformedRecordIsIgnored() throws Exception {
    machine.driver(CARD, "vfio-pci").directory("/run/hghca");
    Files.writeString(machine.file("/run/hghca/" + CARD), "one\ntwo\nthree\n");

    assertThat(binding.unbind(device(CARD))).contains("hgrnic");
  }
}
