package org.hghca.verbs;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import org.hghca.verbs.spi.RdmaProvider;

/** Finds and opens RDMA devices. Thread-safe. */
public final class RdmaDevices {

  private RdmaDevices() {}

  /** The available devices of all providers: {@code ibv_get_device_list}. */
  public static List<RdmaDevice> list() {
    List<RdmaDevice> devices = new ArrayList<>();
    for (RdmaProvider provider : ServiceLoader.load(RdmaProvider.class)) {
      devices.addAll(provider.devices());
    }
    return devices;
  }

  /**
   * Opens a device: {@code ibv_open_device}. A device may be opened many times; each context has
   * its own doorbell page and resources.
   *
   * @param nameOrLocator a name of {@link #list}, such as {@code hghca0}, or a locator
   * @throws VerbsException ENODEV when there is no such device; EACCES, EBUSY or another when it
   *     cannot be opened, with the fix
   */
  public static Context open(String nameOrLocator) {
    for (RdmaProvider provider : ServiceLoader.load(RdmaProvider.class)) {
      Optional<Context> context = provider.open(nameOrLocator);
      if (context.isPresent()) {
        return context.get();
      }
    }
    List<RdmaDevice> known = list();
    throw new VerbsException(
        Errno.ENODEV,
        "no RDMA device '%s'; %s; or give a locator, such as pci:0000:03:00.0"
            .formatted(
                nameOrLocator,
                known.isEmpty()
                    ? "none was found"
                    : "there are "
                        + String.join(", ", known.stream().map(RdmaDevice::name).toList())));
  }
}
