package org.hghca.driver;

import java.util.HashMap;
import java.util.Map;
import org.hghca.driver.bringup.BringUp;
import org.hghca.driver.object.HghcaDevice;
import org.hghca.verbs.RdmaDevice;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;

/**
 * The devices that this process owns. A device is brought up with its first context and closed with
 * its last.
 */
final class OpenDevices {
  private static final Map<String, OpenDevices> OPEN = new HashMap<>();

  private final HghcaDevice device;
  private int contexts;

  private OpenDevices(HghcaDevice device) {
    this.device = device;
  }

  static HghcaContext openContext(RdmaDevice name) {
    HghcaDevice device = acquire(name);
    try {
      return new OpenContext(name, device, () -> release(name));
    } catch (RuntimeException e) {
      release(name);
      throw e;
    }
  }

  private static HghcaDevice acquire(RdmaDevice name) {
    synchronized (OPEN) {
      OpenDevices open = OPEN.get(name.locator());
      if (open == null) {
        open = new OpenDevices(BringUp.of(PciFunctions.open(Locator.parse(name.locator()))));
        OPEN.put(name.locator(), open);
      }
      open.contexts++;
      return open.device;
    }
  }

  private static void release(RdmaDevice name) {
    synchronized (OPEN) {
      OpenDevices open = OPEN.get(name.locator());
      open.contexts--;
      if (open.contexts == 0) {
        OPEN.remove(name.locator());
        open.device.close();
      }
    }
  }
}
