package org.hghca.driver;

import java.util.Optional;
import org.hghca.driver.bringup.BringUp;
import org.hghca.driver.object.HghcaDevice;
import org.hghca.provider.DeviceKind;
import org.hghca.verbs.RdmaDevice;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciIds;

/** JingZhao (HanGu) cards. */
final class HghcaKind implements DeviceKind<HghcaDevice> {

  @Override
  public String prefix() {
    return "hghca";
  }

  /** The ids of a card are its vendor's choice: it is recognized by its registers. */
  @Override
  public boolean claims(PciIds ids) {
    return !ids.isVirtio();
  }

  @Override
  public boolean names(Optional<PciIds> ids) {
    return ids.map(this::claims).orElse(true);
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
