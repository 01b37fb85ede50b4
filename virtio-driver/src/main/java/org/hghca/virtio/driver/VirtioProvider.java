package org.hghca.virtio.driver;

import java.util.List;
import java.util.Optional;
import org.hghca.provider.OpenDevices;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.spi.RdmaProvider;

/** Provides virtio-net devices with RoCE queues to the verbs. */
public final class VirtioProvider implements RdmaProvider {
  private static final OpenDevices<RoceDevice> DEVICES = new OpenDevices<>(new VirtioKind());

  /** Used by the service loader. */
  public VirtioProvider() {}

  @Override
  public List<RdmaDevice> devices() {
    return DEVICES.list();
  }

  @Override
  public Optional<Context> open(String nameOrLocator) {
    return DEVICES.openContext(nameOrLocator);
  }
}
