package org.hghca.tools.info;

import java.util.Optional;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.VfioException;
import org.hghca.virtio.NetworkDevice;
import org.hghca.virtio.VirtioDevice;
import org.hghca.virtio.VirtioException;
import org.hghca.virtio.abi.PciIds;
import org.hghca.virtio.abi.net.NetFeature;
import org.hghca.virtio.driver.RoceInformation;
import org.hghca.virtio.driver.VirtioContext;

/**
 * What a virtio network device says of itself.
 *
 * @param roce empty for one without RoCE
 * @param refusal why it has no verbs; empty with RoCE
 */
record VirtioReport(
    String locator, NetworkDevice network, Optional<RoceInformation> roce, String refusal) {

  /** Of an opened device; empty for one of another kind. */
  static Optional<VirtioReport> of(Context context) {
    return context instanceof VirtioContext virtio
        ? Optional.of(
            new VirtioReport(
                context.device().locator(),
                virtio.network(),
                Optional.of(virtio.information()),
                ""))
        : Optional.empty();
  }

  /**
   * Of a function that has no verbs.
   *
   * @param name or locator
   * @param refusal of the driver
   * @return empty when that is for another reason, or the function is no network device
   */
  static Optional<VirtioReport> withoutVerbs(String name, VerbsException refusal) {
    if (refusal.errno() != Errno.EOPNOTSUPP) {
      return Optional.empty();
    }
    try (PciFunction function = PciFunctions.open(locator(name))) {
      if (!VirtioDevice.isDevice(function.configuration(), PciIds.NETWORK_TYPE)) {
        return Optional.empty();
      }
      try (VirtioDevice device = VirtioDevice.attach(function, PciIds.NETWORK_TYPE)) {
        return Optional.of(
            new VirtioReport(
                function.locator().toString(),
                NetworkDevice.of(device),
                Optional.empty(),
                refusal.getMessage()));
      }
    } catch (VfioException | VirtioException e) {
      refusal.addSuppressed(e);
      return Optional.empty();
    }
  }

  private static Locator locator(String name) {
    return Locator.parse(
        RdmaDevices.list().stream()
            .filter(device -> device.name().equals(name))
            .map(RdmaDevice::locator)
            .findFirst()
            .orElse(name));
  }

  /** The name of a feature bit: that of RoCE if the device has it. */
  String feature(int bit) {
    return roce.filter(known -> known.feature() == bit).isPresent()
        ? "VIRTIO_NET_F_ROCE"
        : NetFeature.name(bit);
  }
}
