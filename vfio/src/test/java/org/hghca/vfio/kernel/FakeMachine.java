package org.hghca.vfio.kernel;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A machine whose kernel's files are in a folder. */
class FakeMachine implements Machine {
  static final String USER = "alice";

  private final Path root;
  private final List<Path> closed = new ArrayList<>();

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

  @Override
  public void write(Path file, String text) throws IOException {
    if (!Files.exists(file)) {
      throw new java.nio.file.NoSuchFileException(file.toString());
    }
    Files.writeString(file, text);
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

  /** Makes a node that exists, open to this user. */
  FakeMachine node(String name) {
    return text(name, "");
  }

  /** Takes this user's permission for a node away. */
  FakeMachine forbid(String name) {
    closed.add(file(name));
    return this;
  }

  /** Who runs the process, and with what capabilities. */
  FakeMachine user(int effective, long capabilities) {
    return text(
        "/proc/self/status",
        "Name:\tjava\nUid:\t1000\t%d\t0\t0\nCapEff:\t%016x\n".formatted(effective, capabilities));
  }

  /** Plugs in a function that nobody drives. */
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

  /** What makes the interface of one node for each function complete, for a card that is ready. */
  FakeMachine iommufd(String address) {
    directory(real(address) + "/vfio-dev/vfio3");
    node("/dev/iommu");
    return node("/dev/vfio/devices/vfio3");
  }
}
