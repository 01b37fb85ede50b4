package org.hghca.model.transport;

import org.hghca.wire.EthernetPort;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketRun;

/** Packets on their way to the port of a device, and what it takes. Used by one thread. */
final class PacketOutput {
  private final EthernetPort port;
  private final TransportCounters counters;

  PacketOutput(EthernetPort port, TransportCounters counters) {
    this.port = port;
    this.counters = counters;
  }

  /** A packet without addresses. */
  Packet packet() {
    return port.pool().take();
  }

  /** A packet with the addresses of the connection. */
  Packet packetTo(ConnectionContext qp) {
    Packet packet = packet();
    address(packet, qp);
    return packet;
  }

  static void address(Packet packet, ConnectionContext qp) {
    packet.destinationMac = qp.destinationMac;
    packet.sourceMac = qp.sourceMac;
    qp.path.putInto(packet);
    packet.migrated = qp.migration == Migration.MIGRATED;
    packet.destinationQpn = qp.remoteQpn;
  }

  void transmit(Packet packet) {
    counters.packetsSent++;
    port.transmit(packet);
  }

  /** Sends a run of packets; returns false when they must be sent one by one. */
  boolean transmit(PacketRun run) {
    boolean taken = port.transmit(run);
    if (taken) {
      counters.packetsSent += run.packets;
    }
    return taken;
  }

  /** A packet is not sent after all. */
  void drop(Packet packet) {
    port.pool().giveBack(packet);
  }

  /** Whether an acknowledgement may wait for what is sent next. */
  boolean sendsSoon() {
    return port.sendsSoon();
  }

  /** Whether a connection may send a packet now, without a turn. */
  boolean sendsAtOnce(Endpoint endpoint) {
    return !endpoint.rate.isLimited() && port.hasRoom();
  }

  /** The most packets of a run that may be sent over a connection now, below 2 for none. */
  int longestRun(Endpoint endpoint, ConnectionContext qp) {
    if (endpoint.rate.isLimited()) {
      return 0;
    }
    IpPath path = qp.path;
    return port.longestRun(qp.destinationMac, path.destinationHigh(), path.destinationLow())
        / qp.mtu;
  }
}
