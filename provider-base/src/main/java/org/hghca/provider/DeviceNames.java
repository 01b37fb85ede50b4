package org.hghca.provider;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.hghca.verbs.Gid;
import org.hghca.verbs.RdmaDevice;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.PciIds;
import org.hghca.vfio.VfioException;

/**
 * The names of the devices of a kind: its prefix with a number from 0, over the sorted locators of
 * the system property {@code hghca.devices} (separated by commas), then over those that the
 * platform discovers. Functions of other kinds do not count.
 */
final class DeviceNames {
  private static final String PROPERTY = "hghca.devices";

  private final DeviceKind<?> kind;

  DeviceNames(DeviceKind<?> kind) {
    this.kind = kind;
  }

  List<RdmaDevice> list() {
    List<Locator> locators = new ArrayList<>();
    Locator.list(System.getProperty(PROPERTY, "").strip()).stream()
        .map(Locator::parse)
        .map(DeviceNames::resolvedIfThere)
        .sorted()
        .distinct()
        .forEach(locators::add);
    for (Locator found : PciFunctions.enumerate()) {
      if (!locators.contains(found)) {
        locators.add(found);
      }
    }
    List<RdmaDevice> devices = new ArrayList<>();
    for (Locator locator : locators) {
      if (kind.names(idsIfKnown(locator))) {
        devices.add(device(kind.prefix() + devices.size(), locator));
      }
    }
    return devices;
  }

  /**
   * The device with a name, or that a locator names; empty when it is neither a known name nor the
   * locator of a device that may be of this kind. A device without a name uses its locator as name.
   */
  Optional<RdmaDevice> find(String nameOrLocator) {
    if (!nameOrLocator.contains(":")) {
      return list().stream().filter(device -> device.name().equals(nameOrLocator)).findFirst();
    }
    Locator locator = PciFunctions.resolve(Locator.parse(nameOrLocator));
    if (!idsIfKnown(locator).map(kind::claims).orElse(true)) {
      return Optional.empty();
    }
    return Optional.of(
        list().stream()
            .filter(device -> device.locator().equals(locator.toString()))
            .findFirst()
            .orElseGet(() -> device(locator.toString(), locator)));
  }

  /** A missing device keeps its name; opening it reports the error. */
  private static Locator resolvedIfThere(Locator locator) {
    try {
      return PciFunctions.resolve(locator);
    } catch (VfioException e) {
      return locator;
    }
  }

  private static Optional<PciIds> idsIfKnown(Locator locator) {
    try {
      return PciFunctions.ids(locator);
    } catch (VfioException e) {
      return Optional.empty(); // opening it reports the error
    }
  }

  private static RdmaDevice device(String name, Locator locator) {
    long nodeGuid = PciFunctions.address(locator).map(LinkAddress::mac).map(Gid::eui64).orElse(0L);
    return new RdmaDevice(name, locator.toString(), nodeGuid);
  }
}
