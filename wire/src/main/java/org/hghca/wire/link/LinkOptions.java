package org.hghca.wire.link;

import java.util.OptionalInt;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.frame.Encapsulation;

/**
 * Properties of the port for which a link is opened.
 *
 * @param mac the port's MAC, 48 bits; not for links that have no Ethernet of their own
 * @param addresses the port's IP addresses; not for links whose specification names them
 * @param mtu bytes of the longest IP packet of the network; by default that of the interface, or
 *     else that of every Ethernet
 * @param sourcePorts UDP source ports to send from in addition to that of RoCE, 0 to 1024
 * @param encapsulation of packets in frames; links without an Ethernet of their own have RoCE v2
 *     only
 * @param share whether MAC and IP address are the kernel's own at the interface; for packet sockets
 * @param ring bytes to which the ring to another member of shared memory may grow, a power of two
 */
public record LinkOptions(
    long mac,
    PortAddresses addresses,
    OptionalInt mtu,
    int sourcePorts,
    Encapsulation encapsulation,
    boolean share,
    int ring) {
  /** The {@link #ring} where nothing is said: what stays in the cache of a processor. */
  public static final int DEFAULT_RING = 1 << 20;

  /** The MTU of every Ethernet. */
  static final int ETHERNET_MTU = 1500;

  /** Those of a port that speaks RoCE v2. */
  public LinkOptions(
      long mac, PortAddresses addresses, OptionalInt mtu, int sourcePorts, boolean share) {
    this(mac, addresses, mtu, sourcePorts, Encapsulation.ROCE_V2, share, DEFAULT_RING);
  }
}
