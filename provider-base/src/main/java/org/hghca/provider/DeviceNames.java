package org.hghca.provider;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.hghca.verbs.Gid;
import org.hghca.verbs.RdmaDevice;
import org.hghca.vfio.DriverParameter;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.PciIds;
import org.hghca.vfio.VfioException;

/**
 * The names of the devices of a driver: its prefix with a number from 0, over the sorted locators
 * of the system property {@code hghca.devices} (separated by commas), then over those that the
 * platform discovers. Functions of other drivers do not count.
 */
final class DeviceNames {
  private static final String PROPERTY = "hghca.devices";

  private DeviceNames() {}

  /** The devices that a driver names. */
  static List<RdmaDevice> of(DeviceDriver driver) {
    List<Locator> locators = new ArrayList<>(configured());
    for (Locator found : PciFunctions.enumerate()) {
      if (!locators.contains(found)) {
        locators.add(found);
      }
    }
    List<RdmaDevice> devices = new ArrayList<>();
    for (Locator locator : locators) {
      if (driver.names(idsIfKnown(locator))) {
        devices.add(device(driver.prefix() + devices.size(), locator));
      }
    }
    return devices;
  }

  /** The device at a locator, with its name; without one, the locator is its name. */
  static RdmaDevice named(String locator, DeviceDriver driver) {
    Locator full = Locator.parse(locator);
    Locator untraced = full.without(DriverParameter.TRACE.key());
    String name =
        listed(untraced, driver)
            .filter(device -> device.locator().equals(untraced.toString()))
            .map(RdmaDevice::name)
            .findFirst()
            .orElse(untraced.toString());
    return device(name, full);
  }

  /** Empty for what has no name, without a look at every function of the machine. */
  private static Stream<RdmaDevice> listed(Locator locator, DeviceDriver driver) {
    return configured().contains(locator) || PciFunctions.isEnumerated(locator)
        ? of(driver).stream()
        : Stream.empty();
  }

  /** What the user names, in the order of its numbers. */
  private static List<Locator> configured() {
    return Locator.list(System.getProperty(PROPERTY, "").strip()).stream()
        .map(Locator::parse)
        .map(DeviceNames::resolvedIfThere)
        .sorted()
        .distinct()
        .toList();
  }

  /** A missing device keeps its name; opening it reports the error. */
  private static Locator resolvedIfThere(Locator locator) {
    try {
      return PciFunctions.resolve(locator);
    } catch (VfioException e) {
      return locator;
    }
  }

  /** What a function is, if its backend knows before it is opened. */
  static Optional<PciIds> idsIfKnown(Locator locator) {
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
