package org.hghca.virtio.driver;

import org.hghca.provider.address.AddressTable;
import org.hghca.verbs.PortAttributes;
import org.hghca.virtio.abi.net.NetConfig;

/** The port of a device, for a context. Thread-safe. */
final class RocePort extends AddressTable {
  private final RoceDevice device;

  /**
   * The port of a device.
   *
   * @param name in messages
   */
  RocePort(String name, RoceDevice device) {
    super(name, device.address(), device.gids(), device.neighbors(), false, true);
    this.device = device;
  }

  /** The port as the configuration has it now; {@link NetConfig#SPEED} does not count. */
  PortAttributes attributes(int number) {
    check(number);
    PortState state = PortState.of(device.virtio());
    return new PortAttributes(
        state.isUp().orElse(true)
            ? org.hghca.verbs.PortState.ACTIVE
            : org.hghca.verbs.PortState.DOWN,
        state.isUp().isEmpty(),
        state.pathMtu(),
        state.pathMtu(),
        gidCount(),
        1,
        device.limits().maxMessage(),
        0,
        0,
        0,
        address().mac());
  }
}
