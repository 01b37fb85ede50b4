package org.hghca.driver;

import java.util.List;
import java.util.Optional;
import org.hghca.provider.Failures;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.spi.RdmaProvider;
import org.hghca.vfio.VfioException;

/** Provides JingZhao (HanGu) cards, and software HCAs, to the verbs. */
public final class HghcaProvider implements RdmaProvider {

  @Override
  public List<RdmaDevice> devices() {
    try {
      return DeviceNames.list();
    } catch (VfioException e) {
      throw Failures.of(e);
    }
  }

  @Override
  public Optional<Context> open(String nameOrLocator) {
    try {
      return DeviceNames.find(nameOrLocator).map(OpenDevices::openContext);
    } catch (VfioException e) {
      throw Failures.of(e);
    }
  }
}
