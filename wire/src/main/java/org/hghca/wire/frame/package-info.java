/**
 * Packets as frames: Ethernet with or without a VLAN tag, IPv4 or IPv6, UDP, the InfiniBand
 * transport headers and the invariant CRC. That is RoCE v2, InfiniBand specification, volume 1,
 * annex A17.
 */
package org.hghca.wire.frame;
