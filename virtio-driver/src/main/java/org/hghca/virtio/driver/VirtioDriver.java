package org.hghca.virtio.driver;

import java.util.Optional;
import org.hghca.provider.DeviceDriver;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevice;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciIds;

/**
 * Drives virtio network devices with RoCE queues. It claims all virtio devices, so that no other
 * driver probes one, and says why it cannot drive the others.
 */
public final class VirtioDriver implements DeviceDriver {

  /** Used by the service loader. */
  public VirtioDriver() {}

  @Override
  public String prefix() {
    return "virtio";
  }

  @Override
  public boolean claims(PciIds ids) {
    return ids.isVirtio();
  }

  /** Only network devices; whether one has RoCE is known when it is opened. */
  @Override
  public boolean names(Optional<PciIds> ids) {
    return ids.filter(PciIds::isVirtio)
        .filter(known -> known.device() == org.hghca.virtio.abi.PciIds.NETWORK_DEVICE)
        .isPresent();
  }

  @Override
  public Device bringUp(PciFunction function) {
    RoceDevice device = BringUp.of(function);
    return new Device() {
      @Override
      public Context context(RdmaDevice name, Runnable onClose) {
        return new RoceContext(name, device, onClose);
      }

      @Override
      public void close() {
        device.close();
      }
    };
  }
}
