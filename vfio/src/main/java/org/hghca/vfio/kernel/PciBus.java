package org.hghca.vfio.kernel;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/** The PCI functions of a machine, as its sysfs shows them at each call. Thread-safe. */
public final class PciBus {
  private static final int BARS = 6;

  /** The kernel's name for a group that it created for vfio-pci without an IOMMU. */
  private static final String NOIOMMU_GROUP = "vfio-noiommu";

  private final Machine machine;

  public PciBus(Machine machine) {
    this.machine = machine;
  }

  /** All functions, by address. */
  public List<PciDevice> devices() {
    return KernelFiles.names(machine.file("/sys/bus/pci/devices")).stream()
        .filter(FunctionSelector::isAddress)
        .flatMap(address -> find(address).stream())
        .toList();
  }

  /** The functions that a selector matches, by address. */
  public List<PciDevice> devices(FunctionSelector selector) {
    return devices().stream().filter(selector::matches).toList();
  }

  /**
   * The one function that a selector matches.
   *
   * @throws VfioException {@code NOT_FOUND} when there is none; {@code INVALID} when there are
   *     several, listing them
   */
  public PciDevice select(FunctionSelector selector) {
    List<PciDevice> found = devices(selector);
    if (found.isEmpty()) {
      throw new VfioException(
          Reason.NOT_FOUND,
          "no PCI function %s: `lspci -Dnn` lists those that are there".formatted(selector));
    }
    if (found.size() > 1) {
      throw new VfioException(
          Reason.INVALID,
          "%d PCI functions %s, name one by its address: %s"
              .formatted(
                  found.size(),
                  selector,
                  found.stream().map(PciDevice::toString).collect(Collectors.joining("; "))));
    }
    return found.getFirst();
  }

  /**
   * The function at an address.
   *
   * @param address {@code dddd:bb:dd.f} in lower case
   */
  public Optional<PciDevice> find(String address) {
    Path function = directory(address);
    if (!Files.isDirectory(function)) {
      return Optional.empty();
    }
    return Optional.of(
        new PciDevice(
            address,
            number(function, "vendor"),
            number(function, "device"),
            number(function, "class"),
            KernelFiles.linkName(function.resolve("driver")),
            KernelFiles.text(function.resolve("driver_override"))
                .filter(text -> !text.isEmpty() && !"(null)".equals(text)),
            group(address),
            resetMethods(function),
            numaNode(function),
            barSizes(function),
            KernelFiles.names(function.resolve("vfio-dev")).stream()
                .filter(name -> name.startsWith("vfio"))
                .findFirst()));
  }

  private Path directory(String address) {
    return machine.file("/sys/bus/pci/devices").resolve(address);
  }

  private static int number(Path function, String name) {
    return KernelFiles.number(function.resolve(name)).orElse(0L).intValue();
  }

  private Optional<IommuGroup> group(String address) {
    Path link = directory(address).resolve("iommu_group");
    return KernelFiles.linkName(link)
        .filter(name -> name.matches("\\d{1,9}"))
        .map(
            name ->
                new IommuGroup(
                    Integer.parseInt(name),
                    KernelFiles.text(link.resolve("name"))
                        .filter(NOIOMMU_GROUP::equals)
                        .isPresent(),
                    KernelFiles.names(link.resolve("devices")).stream()
                        .filter(other -> !other.equals(address))
                        .map(
                            other ->
                                new IommuGroup.Member(
                                    other,
                                    KernelFiles.linkName(directory(other).resolve("driver"))))
                        .toList()));
  }

  private static List<String> resetMethods(Path function) {
    Optional<String> methods = KernelFiles.text(function.resolve("reset_method"));
    if (methods.isPresent()) {
      return Arrays.stream(methods.get().split("\\s+")).filter(name -> !name.isEmpty()).toList();
    }
    return Files.exists(function.resolve("reset")) ? List.of("unnamed") : List.of();
  }

  private static OptionalInt numaNode(Path function) {
    int node = KernelFiles.number(function.resolve("numa_node")).orElse(-1L).intValue();
    return node < 0 ? OptionalInt.empty() : OptionalInt.of(node);
  }

  /** Each line of {@code resource} is first address, last address, flags; all zero without one. */
  private static List<Long> barSizes(Path function) {
    List<Long> sizes = new ArrayList<>();
    for (String line : KernelFiles.lines(function.resolve("resource"))) {
      String[] fields = line.strip().split("\\s+");
      if (sizes.size() < BARS && fields.length == 3) {
        long first = Long.parseUnsignedLong(fields[0].substring(2), 16);
        long last = Long.parseUnsignedLong(fields[1].substring(2), 16);
        sizes.add(last == 0 ? 0 : last - first + 1);
      }
    }
    while (sizes.size() < BARS) {
      sizes.add(0L);
    }
    return sizes;
  }
}
