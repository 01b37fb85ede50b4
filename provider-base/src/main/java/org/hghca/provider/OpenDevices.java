package org.hghca.provider;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.PciIds;
import org.hghca.vfio.VfioException;

/**
 * The devices that this process owns. A function is opened once, whichever driver claims it. A
 * device is brought up with its first context and closed with its last. Thread-safe.
 */
final class OpenDevices {
  private final List<DeviceDriver> drivers;
  private final Map<String, Open> open = new HashMap<>();

  /** A device with the number of its contexts. */
  private static final class Open {
    private final DeviceDriver driver;
    private final DeviceDriver.Device device;
    private int contexts;

    Open(DeviceDriver driver, DeviceDriver.Device device) {
      this.driver = driver;
      this.device = device;
    }
  }

  /**
   * Without open devices.
   *
   * @param drivers in the order in which their devices are listed
   */
  OpenDevices(List<DeviceDriver> drivers) {
    this.drivers = drivers;
  }

  /** The devices that are found, by driver, in the order of their names. */
  List<RdmaDevice> list() {
    try {
      return drivers.stream().flatMap(driver -> DeviceNames.of(driver).stream()).toList();
    } catch (VfioException e) {
      throw Failures.of(e);
    }
  }

  /**
   * Opens a context of a device.
   *
   * @return empty when it is neither a known name nor the locator of a function that a driver
   *     claims
   */
  Optional<Context> openContext(String nameOrLocator) {
    try {
      return nameOrLocator.contains(":")
          ? openLocator(PciFunctions.resolve(Locator.parse(nameOrLocator)).toString())
          : openName(nameOrLocator);
    } catch (VfioException e) {
      throw Failures.of(e);
    }
  }

  private Optional<Context> openLocator(String locator) {
    return acquire(locator, drivers)
        .map(found -> context(DeviceNames.named(locator, found.driver), found));
  }

  private Optional<Context> openName(String name) {
    for (DeviceDriver driver : drivers) {
      for (RdmaDevice device : DeviceNames.of(driver)) {
        if (device.name().equals(name)) {
          return Optional.of(openNamed(device, driver));
        }
      }
    }
    return Optional.empty();
  }

  private Context openNamed(RdmaDevice name, DeviceDriver driver) {
    return acquire(name.locator(), List.of(driver))
        .map(found -> context(name, found))
        .orElseThrow(
            () ->
                new VerbsException(
                    Errno.ENODEV,
                    "%s is no device of this kind: open it by its locator %s"
                        .formatted(name.name(), name.locator())));
  }

  private Context context(RdmaDevice name, Open found) {
    try {
      return found.device.context(name, () -> release(name.locator()));
    } catch (RuntimeException e) {
      release(name.locator());
      throw e;
    }
  }

  /** A device with one more context; empty for a function that none of these drivers claims. */
  private synchronized Optional<Open> acquire(String locator, List<DeviceDriver> candidates) {
    Open found = open.get(locator);
    if (found == null) {
      found = bringUp(Locator.parse(locator), candidates).orElse(null);
      if (found == null) {
        return Optional.empty();
      }
      open.put(locator, found);
    } else if (!candidates.contains(found.driver)) {
      return Optional.empty();
    }
    found.contexts++;
    return Optional.of(found);
  }

  private static Optional<Open> bringUp(Locator locator, List<DeviceDriver> candidates) {
    Optional<PciIds> known = DeviceNames.idsIfKnown(locator);
    if (known.isPresent() && claimer(known.get(), candidates).isEmpty()) {
      return Optional.empty();
    }
    PciFunction function = PciFunctions.open(locator);
    Optional<DeviceDriver> driver = claimer(function, candidates);
    if (driver.isEmpty()) {
      function.close();
    }
    return driver.map(claiming -> new Open(claiming, claiming.bringUp(function)));
  }

  private static Optional<DeviceDriver> claimer(
      PciFunction function, List<DeviceDriver> candidates) {
    try {
      return claimer(PciIds.of(function.configuration()), candidates);
    } catch (RuntimeException | Error e) {
      function.close();
      throw e;
    }
  }

  private static Optional<DeviceDriver> claimer(PciIds ids, List<DeviceDriver> candidates) {
    return candidates.stream().filter(driver -> driver.claims(ids)).findFirst();
  }

  private synchronized void release(String locator) {
    Open found = open.get(locator);
    found.contexts--;
    if (found.contexts == 0) {
      open.remove(locator);
      found.device.close();
    }
  }
}
