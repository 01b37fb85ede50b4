package org.hghca.driver.provider;

import java.util.Optional;
import org.hghca.driver.HghcaContext;
import org.hghca.driver.bringup.BringUp;
import org.hghca.driver.object.HghcaDevice;
import org.hghca.provider.DeviceDriver;
import org.hghca.verbs.RdmaDevice;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciIds;

/** Drives JingZhao (HanGu) cards, and software HCAs. */
public final class HghcaDriver implements DeviceDriver {

  /** Used by the service loader. */
  public HghcaDriver() {}

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
  public Device bringUp(PciFunction function) {
    HghcaDevice card = BringUp.of(function);
    return new Device() {
      @Override
      public HghcaContext context(RdmaDevice name, Runnable onClose) {
        return new OpenContext(name, card, onClose);
      }

      @Override
      public void close() {
        card.close();
      }
    };
  }
}
