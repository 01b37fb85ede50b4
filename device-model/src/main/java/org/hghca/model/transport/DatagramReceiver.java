package org.hghca.model.transport;

import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;

/**
 * The receiving half of datagrams: takes messages of one packet from any sender that knows the
 * Q_Key. The receive buffers get a global route header in front of the data.
 */
final class DatagramReceiver implements ReceiveSide {
  private final Transport transport;
  private final TakenReceive taken;
  private final GrhBytes header = new GrhBytes();

  DatagramReceiver(Transport transport, Endpoint endpoint) {
    this.transport = transport;
    this.taken = new TakenReceive(transport, endpoint);
  }

  @Override
  public void reset() {
    taken.reset();
  }

  @Override
  public void receive(ConnectionContext qp, Packet packet, int operation) {
    if (packet.queueKey != qp.queueKey) {
      transport.counters().drops.count(DropCause.QUEUE_KEY);
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
      transport.counters().drops.count(DropCause.UNWANTED);
    }
  }

  @Override
  public boolean owesData() {
    return false;
  }

  /** There are no answers. */
  @Override
  public int respond(ConnectionContext qp, int budget) {
    return 0;
  }

  @Override
  public void silence() {}

  @Override
  public boolean flush(ConnectionContext qp) {
    return taken.flush(qp);
  }
}
