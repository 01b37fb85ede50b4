package org.hghca.vfio.kernel;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/** The ways in which the kernel gives a function to a process, the preferred one first. */
enum IommuMode {
  /** A separate node for each function, and /dev/iommu for the memory; from Linux 6.6. */
  IOMMUFD,
  /** A node for each IOMMU group, and a container for the memory. */
  GROUP,
  /** The same nodes, but no IOMMU between the function and the memory of the whole machine. */
  NOIOMMU;

  /** The parameter of a locator that forces one. */
  static final String PARAMETER = "iommu";

  /** The value of the parameter that does not force a mode. */
  static final String AUTO = "auto";

  /** The word for it in a locator. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The nodes that this mode opens, the function's own node last, if it has one. */
  List<Path> nodes(Machine machine, PciDevice device) {
    return switch (this) {
      case IOMMUFD ->
          device
              .vfioDevice()
              .map(
                  name ->
                      List.of(
                          machine.file(Vfio.IOMMUFD_NODE),
                          machine.file("/dev/vfio/devices/" + name)))
              .orElse(List.of(machine.file(Vfio.IOMMUFD_NODE)));
      case GROUP, NOIOMMU -> {
        String prefix = this == NOIOMMU ? "noiommu-" : "";
        yield device
            .group()
            .map(
                group ->
                    List.of(
                        machine.file(Vfio.CONTAINER_NODE),
                        machine.file("/dev/vfio/" + prefix + group.number())))
            .orElse(List.of(machine.file(Vfio.CONTAINER_NODE)));
      }
    };
  }

  /** Whether the system has what this mode needs, regardless of permissions. */
  private boolean exists(Machine machine, PciDevice device) {
    List<Path> nodes = nodes(machine, device);
    boolean noiommu = device.group().map(IommuGroup::noiommu).orElse(false);
    return nodes.size() == 2
        && nodes.stream().allMatch(Files::exists)
        && noiommu == (this == NOIOMMU);
  }

  /**
   * The mode for a function: the first that the system supports and this user may use; else the
   * first that the system supports; else the one that the function's group requires.
   *
   * @param wanted the value in the locator: {@code auto} or a {@link #word}
   * @throws VfioException {@code INVALID} for any other word
   */
  static IommuMode choose(Machine machine, PciDevice device, String wanted) {
    if (!AUTO.equals(wanted)) {
      return Arrays.stream(values())
          .filter(mode -> mode.word().equals(wanted))
          .findFirst()
          .orElseThrow(() -> unknown(wanted));
    }
    List<IommuMode> there =
        Arrays.stream(values()).filter(mode -> mode.exists(machine, device)).toList();
    return there.stream()
        .filter(mode -> mode.nodes(machine, device).stream().allMatch(machine::canOpen))
        .findFirst()
        .or(() -> there.stream().findFirst())
        .orElse(device.group().map(IommuGroup::noiommu).orElse(false) ? NOIOMMU : GROUP);
  }

  private static VfioException unknown(String wanted) {
    return new VfioException(
        Reason.INVALID,
        "iommu=%s: expected %s or %s"
            .formatted(
                wanted,
                AUTO,
                Arrays.stream(values()).map(IommuMode::word).collect(Collectors.joining(" or "))));
  }
}
