package org.hghca.model.transport;

import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;

/**
 * The receiving half of datagrams: takes messages of one packet from any sender that knows the
 * Q_Key. The receive buffers get a global route header in front of the data.
 */
final class DatagramReceiver implements ReceiveSide {
  private final TransportParts parts;
  private final TakenReceive taken;
  private final GrhBytes header = new GrhBytes();

  DatagramReceiver(TransportParts parts, Endpoint endpoint) {
    this.parts = parts;
    this.taken = new TakenReceive(parts, endpoint);
  }

  @Override
  public void reset() {
    taken.reset();
  }

  @Override
  public void receive(ConnectionContext qp, Packet packet, int operation) {
    if (packet.queueKey != qp.queueKey) {
      parts.counters.drops.count(DropCause.QUEUE_KEY);
      return;
    }
    boolean isMessage =
        (operation == PacketOpcode.SEND_ONLY || operation == PacketOpcode.SEND_ONLY_IMM)
            && packet.length <= qp.mtu;
    int length = GrhBytes.SIZE + packet.length;
    if (isMessage
        && taken.take(qp)
        && taken.holds(qp, length)
        && taken.scatter(qp, 0, header.of(packet), GrhBytes.SIZE)
        && taken.scatter(qp, GrhBytes.SIZE, packet.payload(), packet.length)) {
      taken.finish(qp, packet, operation, packet.sourceQpn, packet.sourceMac, length);
    } else {
      parts.counters.drops.count(DropCause.UNWANTED);
    }
  }

  @Override
  public boolean flush(ConnectionContext qp) {
    return taken.flush(qp);
  }
}
