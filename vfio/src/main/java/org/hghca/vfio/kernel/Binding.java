package org.hghca.vfio.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * Binds PCI functions to vfio-pci, and back to their previous drivers. Needs root. {@code
 * /run/hghca} holds the previous driver of a function until it is restored, so that another process
 * can restore it. As thread-safe as the kernel.
 */
public final class Binding {
  private static final String PROBE = "/sys/bus/pci/drivers_probe";

  private final Machine machine;
  private final PciBus bus;

  public Binding(Machine machine) {
    this.machine = machine;
    this.bus = new PciBus(machine);
  }

  /**
   * One write to a file of the kernel.
   *
   * @param file its name on the machine
   * @param text empty for an empty line
   */
  private record Write(String file, String text) {
    /** As one types it. */
    @Override
    public String toString() {
      return "echo " + (text.isEmpty() ? "" : text + " ") + "> " + file;
    }
  }

  /**
   * How to bind functions, as commands of a root shell; none for functions that are bound.
   *
   * @throws VfioException saying why it is forbidden or impossible
   */
  public List<String> commandsToBind(List<PciDevice> devices) {
    checkBindable(devices);
    return devices.stream()
        .filter(device -> !device.isBoundToVfio())
        .flatMap(device -> toBind(device).stream())
        .map(Write::toString)
        .toList();
  }

  /**
   * Binds all given functions that are not yet bound to vfio-pci. If one cannot be bound, it
   * returns to its driver; those before it stay bound.
   *
   * @throws VfioException saying why it is forbidden or impossible, and the fix
   */
  public void bind(List<PciDevice> devices) {
    checkBindable(devices);
    for (PciDevice device : devices) {
      if (!device.isBoundToVfio()) {
        checkRoot("bind", device.address());
        bind(device);
      }
    }
  }

  private void bind(PciDevice device) {
    PreviousBinding previous =
        new PreviousBinding(
            device.driver(), device.driverOverride().filter(name -> !Vfio.isVfioDriver(name)));
    try {
      previous.keep(machine, device.address());
      for (Write write : toBind(device)) {
        machine.write(machine.file(write.file()), write.text() + "\n");
      }
    } catch (IOException e) {
      giveBackQuietly(device.address(), previous);
      throw new VfioException(
          Reason.UNSUPPORTED,
          "%s could not be bound to vfio-pci: %s; the kernel's log says more: sudo dmesg | tail"
              .formatted(device.address(), e),
          e);
    }
    if (!bus.find(device.address()).map(PciDevice::isBoundToVfio).orElse(false)) {
      giveBackQuietly(device.address(), previous);
      throw new VfioException(
          Reason.UNSUPPORTED,
          "vfio-pci did not accept %s; the kernel's log says why: sudo dmesg | tail"
              .formatted(device.address()));
    }
  }

  /** After a failure that is reported; a second failure here would only hide it. */
  private void giveBackQuietly(String address, PreviousBinding previous) {
    try {
      for (Write write : toUnbind(bus.find(address), address, previous)) {
        machine.write(machine.file(write.file()), write.text() + "\n");
      }
      PreviousBinding.forget(machine, address);
    } catch (IOException e) {
      // It stays without a driver; the reported failure says to check it.
    }
  }

  private List<Write> toBind(PciDevice device) {
    List<Write> writes = new ArrayList<>();
    writes.add(new Write(file(device.address(), "driver_override"), Vfio.DRIVER));
    if (device.driver().isPresent()) {
      writes.add(new Write(file(device.address(), "driver/unbind"), device.address()));
    }
    writes.add(new Write(PROBE, device.address()));
    return writes;
  }

  /**
   * How to return a function to its driver, as commands of a root shell.
   *
   * @throws VfioException saying why it cannot be done
   */
  public List<String> commandsToUnbind(PciDevice device) {
    checkUnbindable(device);
    return toUnbind(Optional.of(device), device.address(), previous(device)).stream()
        .map(Write::toString)
        .toList();
  }

  /**
   * Returns a function to its previous driver; a function that had none has none again.
   *
   * @return the driver that it has now; empty when it has none
   * @throws VfioException saying why it cannot be done, and the fix
   */
  public Optional<String> unbind(PciDevice device) {
    checkUnbindable(device);
    String address = device.address();
    checkRoot("unbind", address);
    try {
      for (Write write : toUnbind(Optional.of(device), address, previous(device))) {
        machine.write(machine.file(write.file()), write.text() + "\n");
      }
      PreviousBinding.forget(machine, address);
    } catch (IOException e) {
      throw new VfioException(
          Reason.UNSUPPORTED,
          "%s could not be taken from vfio-pci: %s; the kernel's log says more: sudo dmesg | tail"
              .formatted(address, e),
          e);
    }
    return bus.find(address).flatMap(PciDevice::driver);
  }

  /** Without a record, any matching driver may bind the function. */
  private PreviousBinding previous(PciDevice device) {
    return PreviousBinding.of(machine, device.address())
        .orElse(new PreviousBinding(Optional.of("any"), Optional.empty()));
  }

  private static List<Write> toUnbind(
      Optional<PciDevice> device, String address, PreviousBinding previous) {
    List<Write> writes = new ArrayList<>();
    writes.add(new Write(file(address, "driver_override"), previous.override().orElse("")));
    if (device.flatMap(PciDevice::driver).isPresent()) {
      writes.add(new Write(file(address, "driver/unbind"), address));
    }
    if (previous.driver().isPresent()) {
      writes.add(new Write(PROBE, address));
    }
    return writes;
  }

  private static String file(String address, String name) {
    return "/sys/bus/pci/devices/" + address + "/" + name;
  }

  private void checkRoot(String command, String address) {
    if (!Credentials.of(machine).isRoot()) {
      throw new VfioException(
          Reason.NO_PERMISSION,
          "only root may %s %s; fix: sudo hghca %s %s"
              .formatted(command, address, command, address));
    }
  }

  private void checkBindable(List<PciDevice> devices) {
    if (!Files.isDirectory(machine.file("/sys/bus/pci/drivers/" + Vfio.DRIVER))) {
      throw new VfioException(
          Reason.NOT_FOUND, "the driver vfio-pci is not loaded; fix: sudo modprobe vfio-pci");
    }
    List<String> addresses = devices.stream().map(PciDevice::address).toList();
    for (PciDevice device : devices) {
      if (device.isBoundToVfio()) {
        continue;
      }
      if (device.isBridge()) {
        throw new VfioException(
            Reason.INVALID,
            "%s is a bridge: everything behind it would go with it; fix: name the card itself"
                .formatted(device));
      }
      checkIommu(device);
      checkIdle(device);
      checkGroup(device, addresses);
    }
  }

  private void checkIommu(PciDevice device) {
    if (device.group().isEmpty() && !IommuFindings.unsafeMode(machine)) {
      throw new VfioException(
          Reason.UNSUPPORTED,
          "%s has no IOMMU group, and vfio-pci accepts only functions that have one; fix: %s"
              .formatted(device.address(), IommuFindings.switchOn(machine)));
    }
  }

  /** A function that the machine itself uses is not unbound. */
  private void checkIdle(PciDevice device) {
    List<String> uses = InUseCheck.of(machine, device.address());
    if (!uses.isEmpty()) {
      throw new VfioException(
          Reason.BUSY, "%s is in use: %s".formatted(device.address(), String.join("; ", uses)));
    }
  }

  private static void checkGroup(PciDevice device, List<String> addresses) {
    List<IommuGroup.Member> others =
        device.group().map(IommuGroup::obstacles).orElse(List.of()).stream()
            .filter(member -> !addresses.contains(member.address()))
            .toList();
    if (!others.isEmpty()) {
      throw new VfioException(
          Reason.BUSY,
          "%s shares IOMMU group %d with %s; fix: sudo hghca bind %s %s"
              .formatted(
                  device.address(),
                  device.group().orElseThrow().number(),
                  others.stream()
                      .map(
                          member ->
                              "%s (driver %s)"
                                  .formatted(member.address(), member.driver().orElse("none")))
                      .collect(Collectors.joining(", ")),
                  device.address(),
                  others.stream()
                      .map(IommuGroup.Member::address)
                      .collect(Collectors.joining(" "))));
    }
  }

  private void checkUnbindable(PciDevice device) {
    if (!device.isBoundToVfio()) {
      throw new VfioException(
          Reason.INVALID,
          "%s is not bound to vfio-pci: there is nothing to give back".formatted(device));
    }
    // The kernel would wait indefinitely for the last user.
    List<Path> nodes = new ArrayList<>();
    for (IommuMode mode : IommuMode.values()) {
      List<Path> ofMode = mode.nodes(machine, device);
      if (ofMode.size() == 2) {
        nodes.add(ofMode.getLast());
      }
    }
    List<String> holders = Holders.of(machine, nodes);
    if (!holders.isEmpty()) {
      throw new VfioException(
          Reason.BUSY,
          "%s is in use: %s has it open; fix: end it first"
              .formatted(device.address(), String.join(", ", holders)));
    }
  }
}
