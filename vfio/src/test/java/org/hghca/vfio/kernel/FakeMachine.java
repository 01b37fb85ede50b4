package org.hghca.vfio.kernel;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A machine whose kernel's files are in a folder. */
class FakeMachine implements Machine {
  static final String USER = "alice";

  private final Path root;
  private final List<Path> closed = new ArrayList<>();
  private final List<String> writes = new ArrayList<>();
  private final Map<String, String> wanting = new HashMap<>();
  private String unwilling = "none";
  private String refused = "none";

  FakeMachine(Path root) {
    this.root = root;
    directory("/sys/bus/pci/devices");
    directory("/sys/bus/pci/drivers");
    directory("/dev");
    user(0, -1);
  }

  @Override
  public Path file(String name) {
    return root.resolve(name.substring(1));
  }

  @Override
  public String user() {
    return USER;
  }

  @Override
  public boolean canOpen(Path node) {
    return Files.exists(node) && !closed.contains(node);
  }

  /** Reacts to writes to the files by which functions get their drivers, as the kernel does. */
  @Override
  public void write(Path file, String text) throws IOException {
    String name = "/" + root.relativize(file);
    String value = text.strip();
    writes.add("echo " + (value.isEmpty() ? "" : value + " ") + "> " + name);
    if (name.equals(refused)) {
      throw new IOException("the kernel does not want it");
    }
    if (name.endsWith("/driver_override")) {
      Files.writeString(file, (value.isEmpty() ? "(null)" : value) + "\n");
    } else if (name.endsWith("/driver/unbind")) {
      Path driver = file.getParent().toRealPath();
      Files.delete(driver.resolve(value));
      Files.delete(file(real(value) + "/driver"));
    } else if (name.equals("/sys/bus/pci/drivers_probe")) {
      probe(value);
    } else {
      throw new NoSuchFileException(name);
    }
  }

  private void probe(String address) throws IOException {
    String override = Files.readString(file(real(address) + "/driver_override")).strip();
    String driver = override.equals("(null)") ? wanting.get(address) : override;
    if (driver != null && !driver.equals(unwilling)) {
      driver(address, driver);
    }
  }

  /** The commands that were written to the kernel's files. */
  List<String> writes() {
    return writes;
  }

  /** Makes a driver accept a function when it may. */
  FakeMachine wants(String address, String driver) {
    wanting.put(address, driver);
    return this;
  }

  /** Makes a driver refuse every function. */
  FakeMachine unwilling(String driver) {
    unwilling = driver;
    return this;
  }

  /** Makes the kernel refuse writes to a file. */
  FakeMachine refuse(String file) {
    refused = file;
    return this;
  }

  /** Makes a file, with its folders. */
  FakeMachine text(String name, String text) {
    try {
      Files.createDirectories(file(name).getParent());
      Files.writeString(file(name), text);
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  FakeMachine directory(String name) {
    try {
      Files.createDirectories(file(name));
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  FakeMachine link(String name, String target) {
    try {
      Files.createDirectories(file(name).getParent());
      Files.deleteIfExists(file(name));
      Files.createSymbolicLink(file(name), file(target));
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Removes a file, a link or an empty folder. */
  FakeMachine delete(String name) {
    try {
      Files.delete(file(name));
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Makes a node that this user may open. */
  FakeMachine node(String name) {
    return text(name, "");
  }

  /** Removes this user's permission for a node. */
  FakeMachine forbid(String name) {
    closed.add(file(name));
    return this;
  }

  /** The user of the process, and its capabilities. */
  FakeMachine user(int effective, long capabilities) {
    return text(
        "/proc/self/status",
        "Name:\tjava\nUid:\t1000\t%d\t0\t0\nCapEff:\t%016x\n".formatted(effective, capabilities));
  }

  /** Adds a function without a driver. */
  FakeMachine function(String address, String id, String classCode) {
    String real = real(address);
    String[] numbers = id.split(":");
    link("/sys/bus/pci/devices/" + address, real);
    text(real + "/vendor", "0x" + numbers[0] + "\n");
    text(real + "/device", "0x" + numbers[1] + "\n");
    text(real + "/class", "0x" + classCode + "\n");
    text(real + "/driver_override", "(null)\n");
    text(real + "/reset_method", "flr bus\n");
    return text(real + "/numa_node", "-1\n");
  }

  static String real(String address) {
    return "/sys/devices/pci0000:00/" + address;
  }

  FakeMachine driver(String address, String driver) {
    directory("/sys/bus/pci/drivers/" + driver);
    link("/sys/bus/pci/drivers/" + driver + "/" + address, real(address));
    return link(real(address) + "/driver", "/sys/bus/pci/drivers/" + driver);
  }

  /** Puts functions into an IOMMU group. */
  FakeMachine group(int number, String... addresses) {
    String group = "/sys/kernel/iommu_groups/" + number;
    for (String address : addresses) {
      link(group + "/devices/" + address, real(address));
      link(real(address) + "/iommu_group", group);
    }
    return this;
  }

  /** A card alone in IOMMU group 17, bound to vfio-pci, with the nodes of the legacy interface. */
  FakeMachine readyCard(String address) {
    function(address, "10ee:9038", "020700");
    driver(address, "vfio-pci");
    group(17, address);
    node("/dev/vfio/vfio");
    return node("/dev/vfio/17");
  }

  /** Completes the interface of one node per function, for a card that is ready. */
  FakeMachine iommufd(String address) {
    directory(real(address) + "/vfio-dev/vfio3");
    node("/dev/iommu");
    return node("/dev/vfio/devices/vfio3");
  }

  /** A process that has a node open. */
  FakeMachine process(int number, String name, String node) {
    text("/proc/" + number + "/comm", name + "\n");
    link("/proc/" + number + "/fd/0", "/dev/null");
    return link("/proc/" + number + "/fd/7", node);
  }

  /** A network interface of a function. */
  FakeMachine network(String address, String name, boolean up) {
    String device = real(address) + "/net/" + name;
    text(device + "/flags", up ? "0x1003\n" : "0x1002\n");
    return link("/sys/class/net/" + name, device);
  }

  /** A disk of a function. */
  FakeMachine disk(String address, String name, String numbers) {
    String device = real(address) + "/nvme/nvme0/" + name;
    text(device + "/dev", numbers + "\n");
    directory(device + "/holders");
    return link("/sys/class/block/" + name, device);
  }
}
