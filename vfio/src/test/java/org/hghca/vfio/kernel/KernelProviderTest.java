package org.hghca.vfio.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.hghca.vfio.Locator;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What keeps a function from being opened, step by step, over a tree that looks like sysfs. */
class KernelProviderTest {
  private static final String ADDRESS = "0000:03:00.0";

  @TempDir Path root;
  private Path sysfs;
  private Path dev;
  private boolean permitted = true;

  @BeforeEach
  void emptyTree() throws IOException {
    sysfs = Files.createDirectories(root.resolve("sys"));
    dev = Files.createDirectories(root.resolve("dev"));
    Files.createDirectories(sysfs.resolve("bus/pci/devices"));
    Files.createDirectories(sysfs.resolve("bus/pci/drivers"));
  }

  private KernelProvider provider() {
    return new KernelProvider(sysfs, dev, node -> permitted);
  }

  private Path function(String address) throws IOException {
    Path real = Files.createDirectories(sysfs.resolve("devices/pci0000:00").resolve(address));
    Files.createSymbolicLink(sysfs.resolve("bus/pci/devices").resolve(address), real);
    return real;
  }

  private void bind(Path function, String driver) throws IOException {
    Path real = Files.createDirectories(sysfs.resolve("bus/pci/drivers").resolve(driver));
    Files.createSymbolicLink(function.resolve("driver"), real);
    Files.createSymbolicLink(real.resolve(function.getFileName().toString()), function);
  }

  private void group(Path function, String number) throws IOException {
    Path real = Files.createDirectories(sysfs.resolve("kernel/iommu_groups").resolve(number));
    Files.createSymbolicLink(function.resolve("iommu_group"), real);
  }

  private void node(String number) throws IOException {
    Files.createFile(Files.createDirectories(dev.resolve("vfio")).resolve(number));
  }

  private void assertRefused(String locator, Reason reason, String... message) {
    assertThatThrownBy(() -> provider().open(Locator.parse(locator)))
        .isInstanceOfSatisfying(VfioException.class, e -> assertThat(e.reason()).isEqualTo(reason))
        .hasMessageContainingAll(message);
  }

  @Test
  void schemeIsPci() {
    assertThat(provider().scheme()).isEqualTo("pci");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "pci:",
        "pci:03:00.0",
        "pci:0000:03:00",
        "pci:0000:03:00.8",
        "pci:0000:03:20.0",
        "pci:../../../etc",
        "pci:0000:03:00.0/..",
        "pci:0000:03:00.00",
        "pci:000g:03:00.0"
      })
  void textThatIsNoAddressIsRefused(String locator) {
    assertRefused(locator, Reason.INVALID, "'" + locator + "'", "pci:0000:03:00.0");
  }

  @Test
  void cardThatIsNotThereIsNamed() {
    assertRefused("pci:" + ADDRESS, Reason.NOT_FOUND, "no PCI function at " + ADDRESS, "lspci -D");
  }

  @Test
  void functionWithoutDriverSaysHowToBindIt() throws IOException {
    function(ADDRESS);

    assertRefused(
        "pci:" + ADDRESS,
        Reason.BUSY,
        ADDRESS + " is bound to no driver",
        "modprobe vfio-pci",
        "echo vfio-pci > /sys/bus/pci/devices/0000:03:00.0/driver_override",
        "echo 0000:03:00.0 > /sys/bus/pci/drivers_probe");
    assertThatThrownBy(() -> provider().open(Locator.parse("pci:" + ADDRESS)))
        .hasMessageNotContaining("unbind");
  }

  @Test
  void functionOfAnotherDriverSaysHowToTakeItAway() throws IOException {
    bind(function(ADDRESS), "hgrnic");

    assertRefused(
        "pci:" + ADDRESS,
        Reason.BUSY,
        ADDRESS + " is bound to the driver hgrnic",
        "echo 0000:03:00.0 > /sys/bus/pci/drivers/hgrnic/unbind",
        "echo 0000:03:00.0 > /sys/bus/pci/drivers_probe");
  }

  @Test
  void functionWithoutIommuGroupSaysHowToSwitchTheIommuOn() throws IOException {
    bind(function(ADDRESS), "vfio-pci");

    assertRefused(
        "pci:" + ADDRESS,
        Reason.UNSUPPORTED,
        ADDRESS + " has no IOMMU group",
        "intel_iommu=on",
        "amd_iommu=on");
  }

  @Test
  void missingNodeIsNamed() throws IOException {
    Path function = function(ADDRESS);
    bind(function, "vfio-pci");
    group(function, "17");

    assertRefused(
        "pci:" + ADDRESS,
        Reason.NOT_FOUND,
        dev.resolve("vfio/17") + " does not exist",
        "modprobe vfio-pci");
  }

  @Test
  void nodeWithoutPermissionIsNamedWithTheMend() throws IOException {
    Path function = function(ADDRESS);
    bind(function, "vfio-pci");
    group(function, "17");
    node("17");
    permitted = false;

    assertRefused(
        "pci:" + ADDRESS,
        Reason.NO_PERMISSION,
        "no permission to read and write " + dev.resolve("vfio/17"),
        ADDRESS,
        "chown " + System.getProperty("user.name") + " " + dev.resolve("vfio/17"));
  }

  @Test
  void functionThatIsReadySaysThatThisVersionCannotOpenIt() throws IOException {
    Path function = function(ADDRESS);
    bind(function, "vfio-pci");
    group(function, "17");
    node("17");

    assertRefused("pci:" + ADDRESS, Reason.UNSUPPORTED, ADDRESS + " is ready", "model:");
  }

  @Test
  void functionsBoundToVfioAreListedInOrder() throws IOException {
    bind(function("0000:81:00.1"), "vfio-pci");
    bind(function("0000:03:00.0"), "vfio-pci");
    bind(function("0000:04:00.0"), "nvme");
    Files.createFile(sysfs.resolve("bus/pci/drivers/vfio-pci/new_id"));
    Files.createFile(sysfs.resolve("bus/pci/drivers/vfio-pci/unbind"));

    assertThat(provider().enumerate())
        .containsExactly(Locator.parse("pci:0000:03:00.0"), Locator.parse("pci:0000:81:00.1"));
  }

  @Test
  void withoutVfioNothingIsListed() {
    assertThat(provider().enumerate()).isEmpty();
  }
}
