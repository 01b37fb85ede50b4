package org.hghca.virtio.abi.net;

import java.util.Map;
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

  /** The names of all bits, without the beginning that they share. */
  private static final Map<Integer, String> NAMES =
      Map.ofEntries(
          Map.entry(0, "CSUM"),
          Map.entry(1, "GUEST_CSUM"),
          Map.entry(2, "CTRL_GUEST_OFFLOADS"),
          Map.entry(MTU, "MTU"),
          Map.entry(MAC, "MAC"),
          Map.entry(6, "GSO"),
          Map.entry(7, "GUEST_TSO4"),
          Map.entry(8, "GUEST_TSO6"),
          Map.entry(9, "GUEST_ECN"),
          Map.entry(10, "GUEST_UFO"),
          Map.entry(11, "HOST_TSO4"),
          Map.entry(12, "HOST_TSO6"),
          Map.entry(13, "HOST_ECN"),
          Map.entry(14, "HOST_UFO"),
          Map.entry(MRG_RXBUF, "MRG_RXBUF"),
          Map.entry(STATUS, "STATUS"),
          Map.entry(CTRL_VQ, "CTRL_VQ"),
          Map.entry(CTRL_RX, "CTRL_RX"),
          Map.entry(19, "CTRL_VLAN"),
          Map.entry(20, "CTRL_RX_EXTRA"),
          Map.entry(21, "GUEST_ANNOUNCE"),
          Map.entry(MQ, "MQ"),
          Map.entry(CTRL_MAC_ADDR, "CTRL_MAC_ADDR"),
          Map.entry(NOTF_COAL, "NOTF_COAL"),
          Map.entry(GUEST_USO4, "GUEST_USO4"),
          Map.entry(GUEST_USO6, "GUEST_USO6"),
          Map.entry(56, "HOST_USO"),
          Map.entry(57, "HASH_REPORT"),
          Map.entry(59, "GUEST_HDRLEN"),
          Map.entry(RSS, "RSS"),
          Map.entry(61, "RSC_EXT"),
          Map.entry(62, "STANDBY"),
          Map.entry(SPEED_DUPLEX, "SPEED_DUPLEX"));

  private NetFeature() {}

  /** The specification's name of a bit, also of one that all devices have. */
  public static String name(int bit) {
    String name = NAMES.get(bit);
    return name == null ? Feature.name(bit) : "VIRTIO_NET_F_" + name;
  }
}
