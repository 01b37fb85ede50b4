package org.hghca.virtio.driver;

import java.util.Optional;
import org.hghca.verbs.Mtu;
import org.hghca.virtio.DeviceConfiguration;
import org.hghca.virtio.VirtioDevice;
import org.hghca.virtio.abi.net.NetConfig;
import org.hghca.virtio.abi.net.NetFeature;

/**
 * What the configuration of a device says of its port.
 *
 * @param isUp whether the link is up; empty when the device does not tell
 * @param ipMtu bytes of the largest IP packet
 */
record PortState(Optional<Boolean> isUp, int ipMtu) {
  private static final int ETHERNET_MTU = 1500;

  /**
   * Bytes of a packet besides its payload, at most: IPv6 40, UDP 8, BTH 12, RETH 16, immediate 4,
   * ICRC 4.
   */
  private static final int OVERHEAD = 84;

  /** Reads it. */
  static PortState of(VirtioDevice virtio) {
    return virtio.configuration(configuration -> of(virtio, configuration));
  }

  private static PortState of(VirtioDevice virtio, DeviceConfiguration configuration) {
    Optional<Boolean> isUp =
        virtio.has(NetFeature.STATUS)
            ? Optional.of((configuration.get(NetConfig.STATUS) & NetConfig.STATUS_LINK_UP) != 0)
            : Optional.empty();
    int mtu = virtio.has(NetFeature.MTU) ? (int) configuration.get(NetConfig.MTU) : ETHERNET_MTU;
    return new PortState(isUp, mtu);
  }

  /** The largest path MTU whose packets the network carries. */
  Mtu pathMtu() {
    Mtu largest = Mtu.MTU_256;
    for (Mtu mtu : Mtu.values()) {
      if (mtu.bytes() + OVERHEAD <= ipMtu) {
        largest = mtu;
      }
    }
    return largest;
  }
}
