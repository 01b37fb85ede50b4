package org.hghca.virtio.driver;

import java.util.Optional;
import org.hghca.provider.DeviceKind;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevice;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciIds;

/**
 * Virtio devices. The driver claims all of them, so that no other driver probes one, and says why
 * it cannot drive those that are no network devices with RoCE.
 */
final class VirtioKind implements DeviceKind<RoceDevice> {

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
  public RoceDevice bringUp(PciFunction function) {
    return BringUp.of(function);
  }

  @Override
  public Context context(RdmaDevice name, RoceDevice device, Runnable onClose) {
    return new RoceContext(name, device, onClose);
  }

  @Override
  public void close(RoceDevice device) {
    device.close();
  }
}
