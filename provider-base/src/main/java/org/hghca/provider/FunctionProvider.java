package org.hghca.provider;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.spi.RdmaProvider;

/** Provides the PCI functions that a {@link DeviceDriver} of this process drives. Thread-safe. */
public final class FunctionProvider implements RdmaProvider {
  private static final OpenDevices DEVICES = new OpenDevices(drivers());

  /** Used by the service loader. */
  public FunctionProvider() {}

  private static List<DeviceDriver> drivers() {
    return ServiceLoader.load(DeviceDriver.class).stream()
        .map(ServiceLoader.Provider::get)
        .sorted(Comparator.comparing(DeviceDriver::prefix))
        .toList();
  }

  @Override
  public List<RdmaDevice> devices() {
    return DEVICES.list();
  }

  @Override
  public Optional<Context> open(String nameOrLocator) {
    return DEVICES.openContext(nameOrLocator);
  }
}
