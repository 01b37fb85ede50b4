package org.hghca.tools.bringup.board;

import java.time.Duration;
import java.util.ServiceLoader;
import org.hghca.provider.DeviceDriver;
import org.hghca.tools.raw.TappedFunction;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevice;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.PciIds;

/**
 * A card that its driver has opened on a {@link TappedFunction}.
 *
 * @param function of the card; it belongs to the context
 * @param context closes the card
 */
record TappedDriver(TappedFunction function, Context context) {

  /**
   * Opens a card that nothing else has open.
   *
   * @param hcrBase where its HCR is
   * @param settle how long after the end of a command its answer may come
   */
  static TappedDriver open(Locator locator, int hcrBase, Duration settle) {
    Locator canonical = PciFunctions.resolve(locator);
    TappedFunction function = new TappedFunction(PciFunctions.open(canonical));
    DeviceDriver driver;
    try {
      function.tap().hcrAt(hcrBase);
      function.tap().settle(settle);
      function.tap().allowWholeBar(); // the driver itself knows what it must not access
      driver = driver(PciIds.of(function.configuration()));
    } catch (RuntimeException e) {
      function.close();
      throw e;
    }
    DeviceDriver.Device device = driver.bringUp(function);
    try {
      RdmaDevice name = new RdmaDevice(driver.prefix(), canonical.toString(), 0);
      return new TappedDriver(function, device.context(name, device::close));
    } catch (RuntimeException e) {
      device.close();
      throw e;
    }
  }

  private static DeviceDriver driver(PciIds ids) {
    return ServiceLoader.load(DeviceDriver.class).stream()
        .map(ServiceLoader.Provider::get)
        .filter(driver -> driver.claims(ids))
        .findFirst()
        .orElseThrow();
  }
}
