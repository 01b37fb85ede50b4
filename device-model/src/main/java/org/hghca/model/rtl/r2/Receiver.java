package org.hghca.model.rtl.r2;

import static org.hghca.wire.PacketOpcode.*;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.abi.DataUnit;
import org.hghca.abi.NextUnit;
import org.hghca.abi.QpcServiceType;
import org.hghca.model.rtl.ConnectionState;
import org.hghca.model.rtl.Hazards;
import org.hghca.model.rtl.OnChipQp;
import org.hghca.model.rtl.ReceiveWqe;
import org.hghca.model.rtl.Replies;
import org.hghca.model.rtl.SgeList;
import org.hghca.model.rtl.Translation;
import org.hghca.model.transport.TransportCounters;
import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;

/**
 * The receiving side of the second RTL, which checks nothing: no state, no key, no bounds, no
 * sequence numbers. It advances in the receive queue by the size in the WQE.
 */
final class Receiver {
  private static final int UNIT = 16;
  private static final int FETCH = 1024;

  private final Translation translation;
  private final CqeWriter cqes;
  private final Replies replies;
  private final Hazards hazards;
  private final TransportCounters counters;
  private final MemorySegment fetched = Arena.ofAuto().allocate(FETCH, 64);

  Receiver(
      Translation translation,
      CqeWriter cqes,
      Replies replies,
      Hazards hazards,
      TransportCounters counters) {
    this.translation = translation;
    this.cqes = cqes;
    this.replies = replies;
    this.hazards = hazards;
    this.counters = counters;
  }

  void receive(QueuePositions queues, Packet packet) {
    ConnectionState connection = queues.connection;
    int operation = packet.opcode & OPERATION_MASK;
    if (operation == READ_REQUEST) {
      replies.respond(connection, packet);
      return;
    }
    if (starts(operation)) {
      connection.inMessage = isWrite(operation) || take(queues);
      connection.received = 0;
      connection.writeAddress = packet.remoteAddress;
      connection.writeKey = packet.remoteKey;
    }
    if (!connection.inMessage) {
      counters.drops.count(DropCause.UNWANTED); // without notice, and the sender waits
      return;
    }
    if (isSend(operation)) {
      scatter(connection.taken.data, packet);
    } else {
      long address = connection.writeAddress + connection.received;
      translation.write(connection.writeKey, address, packet.payload(), 0, packet.length);
    }
    connection.received += packet.length;
    if (ends(operation)) {
      finish(queues, packet, operation);
    }
  }

  private void finish(QueuePositions queues, Packet packet, int operation) {
    ConnectionState connection = queues.connection;
    OnChipQp qp = connection.qp;
    connection.inMessage = false;
    if (isSend(operation) || hasImmediate(operation) && take(queues)) {
      int offset = connection.taken.offset;
      cqes.received(qp, packet.sourceQpn, operation, offset, connection.received);
    } else if (hasImmediate(operation)) {
      return;
    }
    if (qp.service == QpcServiceType.RC) {
      replies.acknowledge(connection, packet.psn, Replies.ACK, false);
    }
  }

  private void scatter(SgeList data, Packet packet) {
    for (int done = 0; done < packet.length; ) {
      int i = data.index();
      if (i == data.count()) {
        hazards.strike("12.4", "a message is longer than its receive: the rest is lost");
        return;
      }
      int piece = Math.min(packet.length - done, data.room());
      translation.write(data.key(i), data.position(), packet.payload(), done, piece);
      data.use(piece);
      done += piece;
    }
  }

  private boolean take(QueuePositions queues) {
    OnChipQp qp = queues.connection.qp;
    int offset = queues.receiveOffset;
    int first = Math.max(0, Math.min(FETCH, qp.receiveLength - offset));
    translation.readQueue(qp.receiveKey, offset, fetched, 0, first);
    translation.readQueue(qp.receiveKey, 0, fetched, first, FETCH - first);
    int size = NextUnit.size16(fetched, 0) * UNIT;
    if (!NextUnit.isPosted(fetched, 0) || size == 0) {
      hazards.strike("12.5", "nothing is posted to QP 0x%x at 0x%x".formatted(qp.qpn, offset));
      return false;
    }
    ReceiveWqe wqe = queues.connection.taken;
    wqe.offset = offset;
    wqe.data.clear();
    int end = Math.min(size, UNIT * (SgeList.MAX + 1));
    for (int at = UNIT; at < end && !DataUnit.isTerminator(fetched, at); at += UNIT) {
      wqe.data.add(
          DataUnit.byteCount(fetched, at),
          DataUnit.lkey(fetched, at),
          DataUnit.address(fetched, at));
    }
    int stride = 1 << qp.receiveStrideLog;
    int next = offset + (size + stride - 1) / stride * stride;
    queues.receiveOffset = next >= qp.receiveLength ? 0 : next;
    return true;
  }
}
