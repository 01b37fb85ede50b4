package org.hghca.model.transport;

import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;

/**
 * The IP addresses of a connection or a datagram, in halves as {@link IpAddress} has them; none on
 * a path that only has Ethernet addresses.
 */
public final class IpPath {
  private long sourceHigh;
  private long sourceLow;
  private long destinationHigh;
  private long destinationLow;

  /** Sets IPv4 addresses, each 0 for none. */
  public void ipv4(int source, int destination) {
    sourceHigh = 0;
    sourceLow = IpAddress.lowOfIpv4(source);
    destinationHigh = 0;
    destinationLow = IpAddress.lowOfIpv4(destination);
  }

  /** Sets the source of an IPv6 path. */
  public void source(long high, long low) {
    sourceHigh = high;
    sourceLow = low;
  }

  /** Sets the destination of an IPv6 path. */
  public void destination(long high, long low) {
    destinationHigh = high;
    destinationLow = low;
  }

  /** Writes the addresses into a packet to be sent. */
  void putInto(Packet packet) {
    packet.sourceIpHigh = sourceHigh;
    packet.sourceIpLow = sourceLow;
    packet.destinationIpHigh = destinationHigh;
    packet.destinationIpLow = destinationLow;
  }

  /** Whether a packet comes from the destination, and to the source. */
  boolean isBack(Packet packet) {
    return packet.sourceIpLow == destinationLow
        && packet.destinationIpLow == sourceLow
        && packet.sourceIpHigh == destinationHigh
        && packet.destinationIpHigh == sourceHigh;
  }
}
