package org.hghca.vfio.kernel;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctionProvider;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * Functions that the Linux kernel's VFIO hands to user space: {@code pci:0000:03:00.0}. Finds them
 * in sysfs and says what keeps one from being opened.
 */
public final class KernelProvider implements PciFunctionProvider {
  private static final Pattern ADDRESS =
      Pattern.compile("[0-9a-f]{4}:[0-9a-f]{2}:[0-1][0-9a-f]\\.[0-7]");

  private final Path sysfs;
  private final Path dev;
  private final Predicate<Path> accessible;

  public KernelProvider() {
    this(
        Path.of("/sys"), Path.of("/dev"), node -> Files.isReadable(node) && Files.isWritable(node));
  }

  KernelProvider(Path sysfs, Path dev, Predicate<Path> accessible) {
    this.sysfs = sysfs;
    this.dev = dev;
    this.accessible = accessible;
  }

  @Override
  public String scheme() {
    return "pci";
  }

  /** The functions that are bound to vfio-pci. */
  @Override
  public List<Locator> enumerate() {
    Path driver = sysfs.resolve("bus/pci/drivers/vfio-pci");
    if (!Files.isDirectory(driver)) {
      return List.of();
    }
    try (Stream<Path> entries = Files.list(driver)) {
      return entries
          .map(entry -> entry.getFileName().toString())
          .filter(name -> ADDRESS.matcher(name).matches())
          .sorted()
          .map(name -> Locator.parse("pci:" + name))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot list " + driver, e);
    }
  }

  @Override
  public PciFunction open(Locator locator) {
    String address = locator.name();
    if (!ADDRESS.matcher(address).matches()) {
      throw new VfioException(
          Reason.INVALID,
          "'%s' is no PCI address: expected pci:dddd:bb:dd.f, such as pci:0000:03:00.0"
              .formatted(locator));
    }
    Path function = sysfs.resolve("bus/pci/devices").resolve(address);
    if (!Files.exists(function)) {
      throw new VfioException(
          Reason.NOT_FOUND,
          "no PCI function at %s: `lspci -D` lists those that are there".formatted(address));
    }
    checkDriver(function, address);
    checkNode(function, address);
    throw new VfioException(
        Reason.UNSUPPORTED,
        "%s is ready for VFIO, but this version of hghca cannot open kernel functions yet; use the"
                .formatted(address)
            + " software HCA, model:");
  }

  private static void checkDriver(Path function, String address) {
    String bound = linkName(function.resolve("driver"));
    if (!"vfio-pci".equals(bound)) {
      throw new VfioException(
          Reason.BUSY,
          "%s is bound to %s, not to vfio-pci; as root:"
                  .formatted(address, bound == null ? "no driver" : "the driver " + bound)
              + " modprobe vfio-pci;"
              + " echo vfio-pci > /sys/bus/pci/devices/%s/driver_override;".formatted(address)
              + (bound == null
                  ? ""
                  : " echo %s > /sys/bus/pci/drivers/%s/unbind;".formatted(address, bound))
              + " echo %s > /sys/bus/pci/drivers_probe".formatted(address));
    }
  }

  private void checkNode(Path function, String address) {
    String group = linkName(function.resolve("iommu_group"));
    if (group == null) {
      throw new VfioException(
          Reason.UNSUPPORTED,
          "%s has no IOMMU group: switch the IOMMU on in the firmware and boot with"
                  .formatted(address)
              + " intel_iommu=on or amd_iommu=on");
    }
    Path node = dev.resolve("vfio").resolve(group);
    if (!Files.exists(node)) {
      throw new VfioException(
          Reason.NOT_FOUND, "%s does not exist: as root, modprobe vfio-pci".formatted(node));
    }
    if (!accessible.test(node)) {
      throw new VfioException(
          Reason.NO_PERMISSION,
          "no permission to read and write %s, which holds %s: as root, chown %s %s"
              .formatted(node, address, System.getProperty("user.name"), node));
    }
  }

  /** The last part of the path that a symbolic link leads to, or null where there is none. */
  private static String linkName(Path link) {
    try {
      return Files.isSymbolicLink(link)
          ? Files.readSymbolicLink(link).getFileName().toString()
          : null;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + link, e);
    }
  }
}
