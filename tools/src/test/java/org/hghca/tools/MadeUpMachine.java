package org.hghca.tools;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.hghca.vfio.kernel.Machine;

/**
 * A machine of files in a folder, whose kernel binds a function to the driver in driver_override.
 */
public final class MadeUpMachine implements Machine {
  private final Path root;

  /** A machine with vfio-pci and an IOMMU, used by root. */
  public MadeUpMachine(Path root) {
    this.root = root;
    user(0);
    directory("/sys/bus/pci/drivers/vfio-pci");
    directory("/sys/class/iommu/dmar0");
    directory("/sys/bus/pci/devices");
    text("/proc/interrupts", "IR-PCI-MSI\n");
    text("/proc/sys/kernel/ostype", "Linux\n");
    text("/proc/sys/kernel/arch", "x86_64\n");
    text("/dev/vfio/vfio", "");
  }

  public MadeUpMachine user(int number) {
    return text(
        "/proc/self/status",
        "Uid:\t0\t%d\t0\t0\nCapEff:\t%s\n".formatted(number, (number == 0 ? "f" : "0").repeat(16)));
  }

  /** Adds a function in an IOMMU group of its own, with a driver. */
  public MadeUpMachine function(
      String address, String id, String classCode, String driver, int group) {
    String real = "/sys/devices/" + address;
    text(real + "/vendor", "0x" + id.substring(0, 4));
    text(real + "/device", "0x" + id.substring(5));
    text(real + "/class", "0x" + classCode);
    text(real + "/driver_override", "(null)");
    text(real + "/reset_method", "flr");
    link("/sys/bus/pci/devices/" + address, real);
    link(real + "/iommu_group", "/sys/kernel/iommu_groups/" + group);
    link("/sys/kernel/iommu_groups/" + group + "/devices/" + address, real);
    return driver(address, driver);
  }

  private MadeUpMachine driver(String address, String driver) {
    directory("/sys/bus/pci/drivers/" + driver);
    return link("/sys/devices/" + address + "/driver", "/sys/bus/pci/drivers/" + driver);
  }

  public String driver(String address) {
    try {
      Path link = file("/sys/devices/" + address + "/driver");
      return Files.exists(link) ? link.toRealPath().getFileName().toString() : "none";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public MadeUpMachine text(String name, String text) {
    try {
      Files.createDirectories(file(name).getParent());
      Files.writeString(file(name), text);
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void directory(String name) {
    try {
      Files.createDirectories(file(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private MadeUpMachine link(String name, String target) {
    try {
      Files.createDirectories(file(name).getParent());
      Files.deleteIfExists(file(name));
      Files.createDirectories(file(target));
      Files.createSymbolicLink(file(name), file(target));
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Path file(String name) {
    return root.resolve(name.substring(1));
  }

  @Override
  public String user() {
    return "alice";
  }

  @Override
  public boolean canOpen(Path node) {
    return Files.exists(node);
  }

  @Override
  public void write(Path file, String text) throws IOException {
    String value = text.strip();
    switch (file.getFileName().toString()) {
      case "driver_override" -> Files.writeString(file, value);
      case "unbind" -> Files.delete(file("/sys/devices/" + value + "/driver"));
      case "drivers_probe" -> {
        String override = Files.readString(file("/sys/devices/" + value + "/driver_override"));
        driver(value, override.isEmpty() ? "hgrnic" : override);
      }
      default -> throw new IOException("no such file: " + file);
    }
  }
}
