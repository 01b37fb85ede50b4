package org.hghca.wire.frame;

import org.hghca.wire.Packet;

/** Sizes and numbers of the headers in front of the transport. */
public final class FrameLayout {
  /** UDP port of RoCE v2. */
  public static final int ROCE_PORT = 4791;

  static final int ETHERNET_SIZE = 14;
  static final int VLAN_SIZE = 4;
  static final int UDP_SIZE = 8;

  static final int IPV4_TYPE = 0x0800;
  static final int IPV6_TYPE = 0x86dd;
  static final int VLAN_TYPE = 0x8100;

  /** Bytes of the longest frame, without the FCS that Ethernet appends. */
  public static final int MAX_FRAME =
      ETHERNET_SIZE
          + VLAN_SIZE
          + IpHeader.IPV6_SIZE
          + UDP_SIZE
          + TransportHeaders.BASE_SIZE
          + TransportHeaders.MOST
          + Packet.MAX_PAYLOAD
          + TransportHeaders.CRC_SIZE;

  private FrameLayout() {}
}
