package org.hghca.driver;

import java.util.List;
import java.util.Optional;
import org.hghca.driver.object.HghcaDevice;
import org.hghca.provider.OpenDevices;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.spi.RdmaProvider;

/** Provides JingZhao (HanGu) cards, and software HCAs, to the verbs. */
public final class HghcaProvider implements RdmaProvider {
  private static final OpenDevices<HghcaDevice> DEVICES = new OpenDevices<>(new HghcaKind());

  @Override
  public List<RdmaDevice> devices() {
    return DEVICES.list();
  }

  @Override
  public Optional<Context> open(String nameOrLocator) {
    return DEVICES.openContext(nameOrLocator);
  }
}
