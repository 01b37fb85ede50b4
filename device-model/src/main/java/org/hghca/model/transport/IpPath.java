package org.hghca.model.transport;

import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;

/**
 * The way of a connection or a datagram: IP addresses, in halves as {@link IpAddress} has them,
 * none on a path that only has Ethernet addresses; and the other fields of network headers.
 */
public final class IpPath {
  private long sourceHigh;
  private long sourceLow;
  private long destinationHigh;
  private long destinationLow;
  private int trafficClass;
  private int hopLimit = Packet.DEFAULT_HOP_LIMIT;
  private int flowLabel;
  private int udpSourcePort = Packet.FIRST_UDP_SOURCE_PORT;

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

  /**
   * Sets traffic class and hop limit. A hop limit of 0 or 1, which a program need not set, is that
   * of Linux: there the route has it.
   */
  public void service(int newTrafficClass, int newHopLimit) {
    trafficClass = newTrafficClass;
    hopLimit = newHopLimit <= 1 ? Packet.DEFAULT_HOP_LIMIT : newHopLimit;
  }

  /**
   * Sets flow label and UDP source port.
   *
   * @param label with 0 the port is that of the label by both numbers, as Linux has it
   */
  public void flow(int label, int localQpn, int remoteQpn) {
    flowLabel = label;
    udpSourcePort = FlowEntropy.port(label != 0 ? label : FlowEntropy.label(localQpn, remoteQpn));
  }

  /** Sets a UDP source port by both numbers, without a flow label. */
  public void portOnly(int localQpn, int remoteQpn) {
    flowLabel = 0;
    udpSourcePort = FlowEntropy.firstPort(localQpn, remoteQpn);
  }

  /** Takes all fields of another path. */
  void become(IpPath other) {
    trafficClass = other.trafficClass;
    hopLimit = other.hopLimit;
    flowLabel = other.flowLabel;
    udpSourcePort = other.udpSourcePort;
    sourceHigh = other.sourceHigh;
    sourceLow = other.sourceLow;
    destinationHigh = other.destinationHigh;
    destinationLow = other.destinationLow;
  }

  /** Writes all fields into a packet to be sent. */
  void putInto(Packet packet) {
    packet.trafficClass = trafficClass;
    packet.hopLimit = hopLimit;
    packet.flowLabel = flowLabel;
    packet.udpSourcePort = udpSourcePort;
    packet.sourceIpHigh = sourceHigh;
    packet.sourceIpLow = sourceLow;
    packet.destinationIpHigh = destinationHigh;
    packet.destinationIpLow = destinationLow;
  }

  long destinationHigh() {
    return destinationHigh;
  }

  long destinationLow() {
    return destinationLow;
  }

  /** Whether a packet comes from the destination, and to the source. */
  boolean isBack(Packet packet) {
    return packet.sourceIpLow == destinationLow
        && packet.destinationIpLow == sourceLow
        && packet.sourceIpHigh == destinationHigh
        && packet.destinationIpHigh == sourceHigh;
  }
}
