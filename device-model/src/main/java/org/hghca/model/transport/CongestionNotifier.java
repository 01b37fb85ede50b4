package org.hghca.model.transport;

import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;

/** Notifies the senders of packets that a switch has marked. */
final class CongestionNotifier {
  /** At most one notification per queue pair in this many nanoseconds. */
  static final long INTERVAL = 50_000;

  /** The bits of a traffic class that report congestion. */
  private static final int ECN = 0x03;

  private static final int CONGESTION_EXPERIENCED = 0x03;

  /** DSCP 48, which switches serve first, and ECN-capable output. */
  private static final int TRAFFIC_CLASS = 48 << 2 | 0x02;

  private final PacketOutput output;
  private final TransportCounters counters;

  CongestionNotifier(PacketOutput output, TransportCounters counters) {
    this.output = output;
    this.counters = counters;
  }

  static boolean isMarked(Packet packet) {
    return (packet.trafficClass & ECN) == CONGESTION_EXPERIENCED;
  }

  /** A queue pair has received a marked packet. */
  void marked(Endpoint endpoint, ConnectionContext qp, Packet packet, long now) {
    counters.congestionMarks++;
    boolean isForGroup = packet.destinationQpn != endpoint.qpn;
    if (isForGroup || now - endpoint.notifiedAt < INTERVAL) {
      return;
    }
    endpoint.notifiedAt = now;
    counters.notificationsSent++;
    Packet notification = endpoint.service == Service.UD ? backTo(packet) : output.packetTo(qp);
    notification.opcode = PacketOpcode.CONGESTION_NOTIFICATION;
    notification.psn = 0;
    notification.migrated = false;
    notification.backwardCongestion = true;
    notification.trafficClass = TRAFFIC_CLASS;
    output.transmit(notification);
  }

  /** A packet to the sender of a datagram. */
  private Packet backTo(Packet datagram) {
    Packet packet = output.packet();
    packet.destinationMac = datagram.sourceMac;
    packet.sourceMac = datagram.destinationMac;
    packet.destinationIpHigh = datagram.sourceIpHigh;
    packet.destinationIpLow = datagram.sourceIpLow;
    packet.sourceIpHigh = datagram.destinationIpHigh;
    packet.sourceIpLow = datagram.destinationIpLow;
    packet.destinationQpn = datagram.sourceQpn;
    return packet;
  }
}
