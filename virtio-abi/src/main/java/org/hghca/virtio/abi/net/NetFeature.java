package org.hghca.virtio.abi.net;

import org.hghca.virtio.abi.Feature;

/** Feature bits of the network device; those of RoCE are in a {@code Dialect}. */
public final class NetFeature {
  /** {@link NetConfig#MTU} is valid. */
  public static final int MTU = 3;

  /** {@link NetConfig#MAC} is valid. */
  public static final int MAC = 5;

  /** A received frame may lie in several buffers. */
  public static final int MRG_RXBUF = 15;

  /** {@link NetConfig#STATUS} is valid. */
  public static final int STATUS = 16;

  /** There is a control queue. */
  public static final int CTRL_VQ = 17;

  /** Control commands of {@link NetControl#CLASS_RX}. */
  public static final int CTRL_RX = 18;

  /** Several pairs of queues. */
  public static final int MQ = 22;

  /** {@link NetControl} command to set the MAC address. */
  public static final int CTRL_MAC_ADDR = 23;

  /** Notification coalescing; its control class is that of RoCE. */
  public static final int NOTF_COAL = 53;

  /** The guest can receive segmented UDP over IPv4. */
  public static final int GUEST_USO4 = 54;

  /** The guest can receive segmented UDP over IPv6; the bit of RoCE in the RFC. */
  public static final int GUEST_USO6 = 55;

  /** Receive-side scaling. */
  public static final int RSS = 60;

  /** {@link NetConfig#SPEED} and {@link NetConfig#DUPLEX} are valid. */
  public static final int SPEED_DUPLEX = 63;

  private NetFeature() {}

  /** The specification's name of a bit, also of one that all devices have. */
  public static String name(int bit) {
    return switch (bit) {
      case MTU -> "VIRTIO_NET_F_MTU";
      case MAC -> "VIRTIO_NET_F_MAC";
      case MRG_RXBUF -> "VIRTIO_NET_F_MRG_RXBUF";
      case STATUS -> "VIRTIO_NET_F_STATUS";
      case CTRL_VQ -> "VIRTIO_NET_F_CTRL_VQ";
      case CTRL_RX -> "VIRTIO_NET_F_CTRL_RX";
      case MQ -> "VIRTIO_NET_F_MQ";
      case CTRL_MAC_ADDR -> "VIRTIO_NET_F_CTRL_MAC_ADDR";
      case NOTF_COAL -> "VIRTIO_NET_F_NOTF_COAL";
      case GUEST_USO4 -> "VIRTIO_NET_F_GUEST_USO4";
      case GUEST_USO6 -> "VIRTIO_NET_F_GUEST_USO6";
      case RSS -> "VIRTIO_NET_F_RSS";
      case SPEED_DUPLEX -> "VIRTIO_NET_F_SPEED_DUPLEX";
      default -> Feature.name(bit);
    };
  }
}
