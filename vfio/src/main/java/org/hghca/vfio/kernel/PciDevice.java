package org.hghca.vfio.kernel;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.hghca.vfio.PciIds;

/**
 * A PCI function as sysfs shows it.
 *
 * @param address {@code dddd:bb:dd.f}, hexadecimal, as sysfs writes it
 * @param classCode 24 bits: base class, subclass, programming interface
 * @param driver empty when it has none
 * @param driverOverride the only driver that it may be bound to; empty when any may
 * @param group empty when no IOMMU has it
 * @param resetMethods in the order in which the kernel tries them; {@code unnamed} on kernels
 *     before 5.15, which do not report them
 * @param numaNode empty on a machine with one
 * @param barSizes bytes of BAR 0 to 5, 0 where there is none
 * @param vfioDevice the name of its VFIO device, such as {@code vfio0}; empty without one
 */
public record PciDevice(
    String address,
    int vendorId,
    int deviceId,
    int classCode,
    Optional<String> driver,
    Optional<String> driverOverride,
    Optional<IommuGroup> group,
    List<String> resetMethods,
    OptionalInt numaNode,
    List<Long> barSizes,
    Optional<String> vfioDevice) {
  private static final int BRIDGE = 0x06;

  public PciDevice {
    resetMethods = List.copyOf(resetMethods);
    barSizes = List.copyOf(barSizes);
  }

  /** Vendor and device. */
  public PciIds ids() {
    return new PciIds(vendorId, deviceId);
  }

  /** Vendor and device, such as {@code 10ee:9038}. */
  public String id() {
    return ids().toString();
  }

  /** Whether it carries the traffic of other functions. */
  public boolean isBridge() {
    return classCode >> 16 == BRIDGE;
  }

  /** Whether vfio-pci, or vfio-pci with additions for one device, is its driver. */
  public boolean isBoundToVfio() {
    return driver.map(Vfio::isVfioDriver).orElse(false);
  }

  /** In one line, such as {@code 0000:03:00.0 [10ee:9038] class 020700, driver vfio-pci}. */
  @Override
  public String toString() {
    return "%s [%s] class %06x, %s"
        .formatted(
            address, id(), classCode, driver.map(name -> "driver " + name).orElse("no driver"));
  }
}
