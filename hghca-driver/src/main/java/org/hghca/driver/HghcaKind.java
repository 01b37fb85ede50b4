package org.hghca.driver;

import org.hghca.driver.bringup.BringUp;
import org.hghca.driver.object.HghcaDevice;
import org.hghca.provider.DeviceKind;
import org.hghca.verbs.RdmaDevice;
import org.hghca.vfio.PciFunction;

/** JingZhao (HanGu) cards. */
final class HghcaKind implements DeviceKind<HghcaDevice> {

  @Override
  public String prefix() {
    return "hghca";
  }

  @Override
  public HghcaDevice bringUp(PciFunction function) {
    return BringUp.of(function);
  }

  @Override
  public HghcaContext context(RdmaDevice name, HghcaDevice device, Runnable onClose) {
    return new OpenContext(name, device, onClose);
  }

  @Override
  public void close(HghcaDevice device) {
    device.close();
  }
}
