package org.hghca.vfio.kernel;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/** The findings for one function, in the order in which opening it would fail. */
final class FunctionFindings {
  private final Machine machine;
  private final PciDevice device;
  private final String address;
  private final IommuMode mode;
  private final List<Finding> findings = new ArrayList<>();
  private VfioException obstacle;

  /**
   * Checks a function.
   *
   * @param wanted the mode in its locator, or {@link IommuMode#AUTO}
   */
  FunctionFindings(Machine machine, PciDevice device, String wanted) {
    this.machine = machine;
    this.device = device;
    this.address = device.address();
    this.mode = IommuMode.choose(machine, device, wanted);
    driver();
    group();
    if (device.isBoundToVfio()) {
      nodes();
    }
    reset();
  }

  List<Finding> findings() {
    return List.copyOf(findings);
  }

  /** The failure of opening it; empty when nothing prevents it. */
  Optional<VfioException> obstacle() {
    return Optional.ofNullable(obstacle);
  }

  /** How it is opened. */
  IommuMode mode() {
    return mode;
  }

  private void ok(String found) {
    findings.add(Finding.ok(address, found));
  }

  private void problem(Reason reason, String found, String why, String fix) {
    Finding finding = Finding.problem(address, found, why, fix);
    findings.add(finding);
    if (obstacle == null) {
      obstacle = new VfioException(reason, finding.message());
    }
  }

  private void driver() {
    if (device.isBoundToVfio()) {
      ok("%s is bound to the driver %s".formatted(address, device.driver().orElseThrow()));
      return;
    }
    problem(
        Reason.BUSY,
        "%s is bound to %s, not to vfio-pci"
            .formatted(
                address, device.driver().map(name -> "the driver " + name).orElse("no driver")),
        "the kernel hands out only functions that vfio-pci drives",
        "sudo hghca bind " + address);
  }

  private void group() {
    Optional<IommuGroup> group = device.group();
    if (group.isEmpty()) {
      problem(
          Reason.UNSUPPORTED,
          address + " has no IOMMU group",
          "without an IOMMU a function reaches the memory of the whole machine, and the kernel does"
              + " not hand it out",
          IommuFindings.switchOn(machine));
      return;
    }
    if (mode == IommuMode.NOIOMMU && !group.get().noiommu()) {
      problem(
          Reason.INVALID,
          address + " is behind an IOMMU",
          "noiommu is for functions without one",
          "leave iommu=noiommu out of the locator");
    }
    if (group.get().noiommu()) {
      noiommu(group.get());
    }
    List<IommuGroup.Member> obstacles = group.get().obstacles();
    if (obstacles.isEmpty()) {
      ok(
          "IOMMU group %d is viable: %s"
              .formatted(group.get().number(), describe(group.get().others())));
      return;
    }
    problem(
        Reason.BUSY,
        "IOMMU group %d of %s is not viable: %s"
            .formatted(group.get().number(), address, describe(obstacles)),
        "the kernel hands out a group only when no other driver has a function of it",
        "sudo hghca bind "
            + obstacles.stream().map(IommuGroup.Member::address).collect(Collectors.joining(" "))
            + ", or put the card into another slot");
  }

  private void noiommu(IommuGroup group) {
    if (mode != IommuMode.NOIOMMU) {
      problem(
          Reason.UNSUPPORTED,
          "%s has no IOMMU behind it, only the noiommu group %d".formatted(address, group.number()),
          "iommu=%s needs an IOMMU".formatted(mode.word()),
          IommuFindings.switchOn(machine) + "; or iommu=noiommu in the locator");
    } else if (!Credentials.of(machine).mayUseNoiommu()) {
      problem(
          Reason.NO_PERMISSION,
          address + " is in noiommu mode",
          "the kernel opens it only for processes with CAP_SYS_RAWIO",
          "run as root, or switch the IOMMU on");
    } else {
      findings.add(
          Finding.note(
              address,
              address + " is in noiommu mode",
              "a wrong address in a request of the card overwrites any memory of this machine",
              IommuFindings.switchOn(machine)));
    }
  }

  private static String describe(List<IommuGroup.Member> members) {
    if (members.isEmpty()) {
      return "no other function is in it";
    }
    return members.stream()
        .map(
            member ->
                member.address()
                    + member
                        .driver()
                        .map(name -> " has the driver " + name)
                        .orElse(" has no driver"))
        .collect(Collectors.joining(", "));
  }

  private void nodes() {
    if (device.group().isEmpty()) {
      return;
    }
    List<Path> nodes = mode.nodes(machine, device);
    for (Path node : nodes) {
      if (!Files.exists(node)) {
        problem(
            Reason.NOT_FOUND,
            node + " does not exist",
            "%s is opened through it".formatted(address),
            missingNodeFix(node));
        return;
      }
    }
    if (nodes.size() < 2) {
      problem(
          Reason.UNSUPPORTED,
          address + " has no VFIO device of its own",
          "iommu=iommufd opens /dev/vfio/devices/vfioN, which Linux has from 6.6 with"
              + " CONFIG_VFIO_DEVICE_CDEV",
          "iommu=group in the locator");
      return;
    }
    List<Path> closed = nodes.stream().filter(node -> !machine.canOpen(node)).toList();
    if (closed.isEmpty()) {
      ok(
          "opened in mode '%s', through %s"
              .formatted(
                  mode.word(),
                  nodes.stream().map(Path::toString).collect(Collectors.joining(" and "))));
      return;
    }
    String names = closed.stream().map(Path::toString).collect(Collectors.joining(" "));
    problem(
        Reason.NO_PERMISSION,
        "no permission to read and write " + names,
        "%s is opened through it".formatted(address),
        "sudo chown %s %s; permanently: the rule tools/udev/60-hghca-vfio.rules and sudo usermod -aG"
                .formatted(machine.user(), names)
            + " vfio "
            + machine.user());
  }

  private String missingNodeFix(Path node) {
    return switch (mode) {
      case IOMMUFD ->
          "sudo modprobe -a iommufd vfio-pci; where the kernel lacks it, iommu=group in the"
              + " locator";
      case GROUP, NOIOMMU ->
          "sudo modprobe vfio-pci; in a container: --device " + node + " when it is started";
    };
  }

  private void reset() {
    if (device.resetMethods().isEmpty()) {
      findings.add(
          Finding.note(
              address,
              address + " has no reset",
              "the state that a program left in the card stays there, so the driver refuses a card"
                  + " of the published RTL",
              "reload the bitstream and set assumeClean=true in the locator"));
    } else {
      ok("can be reset: " + String.join(", ", device.resetMethods()));
    }
  }
}
