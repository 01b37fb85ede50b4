package org.hghca.model.transport;

import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;

/**
 * The receiving half of an unreliable connection. A message that has a gap, is incomplete or is not
 * allowed is dropped silently, up to the first packet of the next one; the receive that it had
 * taken is used for the next message. An error in the receive itself moves the queue pair to ERR.
 */
final class UnreliableReceiver implements ReceiveSide {
  private final TransportParts parts;
  private final TakenReceive taken;

  private enum Message {
    NONE,
    SEND,
    WRITE
  }

  /** The message whose first packets have arrived and whose last one has not. */
  private Message message = Message.NONE;

  /** Bytes of the message that have arrived, and how many an RDMA WRITE has announced. */
  private long arrived;

  private long announced;
  private long writeAddress;
  private int writeKey;

  UnreliableReceiver(TransportParts parts, Endpoint endpoint) {
    this.parts = parts;
    this.taken = new TakenReceive(parts, endpoint);
  }

  @Override
  public void reset() {
    message = Message.NONE;
    taken.reset();
  }

  @Override
  public void receive(ConnectionContext qp, Packet packet, int operation) {
    boolean accepted = follows(qp, packet, operation);
    if (accepted) {
      qp.expectedPsn = Psn.add(packet.psn, 1);
      qp.setChanged(true);
      accepted =
          packet.length <= qp.mtu
              && (PacketOpcode.isSend(operation)
                  ? executeSend(qp, packet, operation)
                  : executeWrite(qp, packet, operation));
    }
    if (!accepted) {
      parts.counters.drops.count(DropCause.UNWANTED);
    }
    if (!accepted || PacketOpcode.ends(operation)) {
      message = Message.NONE;
    }
  }

  /** Whether a packet begins a message or is the next one of the current message. */
  private boolean follows(ConnectionContext qp, Packet packet, int operation) {
    boolean isSend = PacketOpcode.isSend(operation);
    if (!isSend && !PacketOpcode.isWrite(operation)) {
      return false;
    }
    boolean starts = PacketOpcode.starts(operation);
    if (!starts && packet.psn != qp.expectedPsn) {
      return false;
    }
    boolean inPlace = starts || message == (isSend ? Message.SEND : Message.WRITE);
    return inPlace
        && (PacketOpcode.ends(operation) ? starts || packet.length > 0 : packet.length == qp.mtu);
  }

  private boolean executeSend(ConnectionContext qp, Packet packet, int operation) {
    if (PacketOpcode.starts(operation)) {
      if (!taken.take(qp)) {
        return false;
      }
      message = Message.SEND;
      arrived = 0;
    }
    if (!taken.holds(qp, arrived + packet.length)
        || !taken.scatter(qp, arrived, packet.payload(), packet.length)) {
      return false;
    }
    arrived += packet.length;
    if (PacketOpcode.ends(operation)) {
      finish(qp, packet, operation);
    }
    return true;
  }

  private boolean executeWrite(ConnectionContext qp, Packet packet, int operation) {
    if (PacketOpcode.starts(operation)) {
      if (!qp.remoteWrite || !isAllowed(qp, packet)) {
        return false;
      }
      writeAddress = packet.remoteAddress;
      writeKey = packet.remoteKey;
      announced = Integer.toUnsignedLong(packet.dmaLength);
      arrived = 0;
      message = Message.WRITE;
    }
    long total = arrived + packet.length;
    if (PacketOpcode.ends(operation) ? total != announced : total >= announced) {
      return false;
    }
    boolean completes = PacketOpcode.hasImmediate(operation);
    if (completes && !taken.take(qp) || !write(qp, packet)) {
      return false;
    }
    arrived = total;
    if (completes) {
      finish(qp, packet, operation);
    }
    return true;
  }

  private boolean isAllowed(ConnectionContext qp, Packet packet) {
    long length = Integer.toUnsignedLong(packet.dmaLength);
    return length == 0
        || parts.memory.check(
                packet.remoteKey, qp.pd, packet.remoteAddress, length, MemoryAccess.REMOTE_WRITE)
            == MemoryStatus.OK;
  }

  private boolean write(ConnectionContext qp, Packet packet) {
    return packet.length == 0
        || parts.memory.write(
                writeKey,
                qp.pd,
                writeAddress + arrived,
                MemoryAccess.REMOTE_WRITE,
                packet.payload(),
                0,
                packet.length)
            == MemoryStatus.OK;
  }

  private void finish(ConnectionContext qp, Packet packet, int operation) {
    taken.finish(qp, packet, operation, qp.remoteQpn, qp.destinationMac, arrived);
  }

  @Override
  public boolean flush(ConnectionContext qp) {
    message = Message.NONE;
    return taken.flush(qp);
  }
}
