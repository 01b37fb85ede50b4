package org.hghca.model.rtl.r1;

import static org.hghca.wire.PacketOpcode.*;

import org.hghca.abi.MptFlags;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QpcState;
import org.hghca.model.rtl.ConnectionState;
import org.hghca.model.rtl.Hazards;
import org.hghca.model.rtl.OnChipQp;
import org.hghca.model.rtl.ReceiveWqe;
import org.hghca.model.rtl.Replies;
import org.hghca.model.rtl.Stops;
import org.hghca.model.rtl.Translation;
import org.hghca.model.transport.TransportCounters;
import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;

/**
 * The receiving side of all services. An unexpected packet is dropped silently, also on unreliable
 * services. A message that a queue pair cannot accept puts it into ERR on every service; the peer
 * is notified only on a reliable connection.
 */
final class Receiver {
  private static final int BEAT = 32;

  private final Translation translation;
  private final Hazards hazards;
  private final Stops stops;
  private final WriteChannel channel;
  private final ReceiveQueues queues;
  private final CqeWriter cqes;
  private final Replies replies;
  private final TransportCounters counters;

  Receiver(
      Translation translation,
      Hazards hazards,
      Stops stops,
      WriteChannel channel,
      CqeWriter cqes,
      Replies replies,
      TransportCounters counters) {
    this.translation = translation;
    this.hazards = hazards;
    this.stops = stops;
    this.channel = channel;
    this.queues = new ReceiveQueues(translation, hazards);
    this.cqes = cqes;
    this.replies = replies;
    this.counters = counters;
  }

  void reset() {
    queues.reset();
  }

  void receive(ConnectionState connection, Packet packet) {
    OnChipQp qp = connection.qp;
    int operation = packet.opcode & OPERATION_MASK;
    boolean reliable = qp.service == QpcServiceType.RC;
    if (qp.state == QpcState.RST) {
      inReset(connection, packet, operation);
    } else if (qp.state == QpcState.INIT) {
      tooEarly(connection, packet, operation);
    } else if (qp.state == QpcState.ERR) {
      // The rest of the message that caused the error is not answered.
      boolean rest = connection.swallows && !starts(operation) && operation != READ_REQUEST;
      if (operation == READ_REQUEST && reliable) {
        nak(connection, packet.psn + 1, Replies.REFUSED_IN_ERR);
      } else if (reliable && !rest) {
        nak(connection, packet.psn, Replies.REFUSED);
      }
      counters.drops.count(DropCause.STATE);
    } else if (packet.psn != qp.expectedPsn) {
      counters.drops.count(DropCause.UNWANTED);
    } else if (isSend(operation)) {
      send(connection, packet, operation);
    } else if (isWrite(operation)) {
      write(connection, packet, operation);
    } else if (operation == READ_REQUEST && reliable) {
      read(connection, packet);
    } else {
      counters.drops.count(DropCause.UNSUPPORTED);
    }
  }

  /** It is still answered, to the peer in the context: usually none. */
  private void inReset(ConnectionState connection, Packet packet, int operation) {
    OnChipQp qp = connection.qp;
    hazards.strike("12.20", "QP 0x%x gets a message while in RST".formatted(qp.qpn));
    counters.drops.count(DropCause.STATE);
    if (qp.service == QpcServiceType.RC && operation != READ_REQUEST) {
      boolean inOrder = packet.psn == qp.expectedPsn;
      replies.acknowledge(
          connection, qp.expectedPsn, inOrder ? Replies.ACK : Replies.OUT_OF_ORDER, false);
    }
  }

  private void tooEarly(ConnectionState connection, Packet packet, int operation) {
    hazards.strike(
        "12.12", "QP 0x%x gets a message while in INIT: lost".formatted(connection.qp.qpn));
    counters.drops.count(DropCause.STATE);
    if (connection.qp.service == QpcServiceType.RC && operation != READ_REQUEST) {
      replies.acknowledge(connection, packet.psn, Replies.ACK, false);
    }
  }

  private void send(ConnectionState connection, Packet packet, int operation) {
    OnChipQp qp = connection.qp;
    if (starts(operation)) {
      begin(connection);
    }
    if (!continues(connection, operation)
        || starts(operation) && !takeReceive(connection, packet)) {
      return;
    }
    if (packet.length == 0) {
      stopByNothing(connection, packet);
      acknowledge(connection, packet, operation);
      return;
    }
    ReceiveWqe wqe = connection.taken;
    if (wqe.data.meetsEmpty(packet.length)) {
      // The data unit without bytes makes the card handle the message as a CQE.
      cqes.raw(qp.receiveCqn, packet.payload(), packet.length);
      channel.stop("12.1", "QP 0x%x receives into a data unit of 0 bytes".formatted(qp.qpn));
      return;
    }
    long room = wqe.data.left();
    int unitBefore = wqe.data.reached();
    switch (channel.scatter(wqe.data, qp.pd, packet.payload(), packet.length)) {
      case DENIED -> denied(connection, packet, room - wqe.data.left());
      case TOO_LONG -> tooLong(connection, packet, room);
      default -> {
        connection.received += packet.length;
        if (ends(operation)) {
          // A data unit that one packet leaves unfinished is written back without the WQE's place.
          boolean continues = !starts(operation) && wqe.data.reached() == unitBefore;
          complete(connection, packet, operation, continues ? 0 : wqe.offset);
        }
        acknowledge(connection, packet, operation);
      }
    }
  }

  /** On a looped-back card two CQEs are written: one of zeros, and the sender's. */
  private void stopByNothing(ConnectionState connection, Packet packet) {
    OnChipQp qp = connection.qp;
    String why = "QP 0x%x gets a SEND of 0 bytes".formatted(qp.qpn);
    if (packet.destinationMac == qp.destinationMac) {
      cqes.raw(qp.receiveCqn, packet.payload(), 0);
      channel.stopBehindEntry("12.1", why);
    } else {
      channel.stop("12.1", why);
    }
  }

  private void write(ConnectionState connection, Packet packet, int operation) {
    OnChipQp qp = connection.qp;
    if (starts(operation)) {
      begin(connection);
      connection.writeAddress = packet.remoteAddress;
      connection.writeKey = packet.remoteKey;
      if (packet.dmaLength != 0 && !isAllowed(qp, packet, MptFlags.REMOTE_WRITE)) {
        refuse(connection, packet);
        return;
      }
    }
    if (!continues(connection, operation)) {
      return;
    }
    if (packet.length == 0) {
      channel.stop("12.1", "QP 0x%x gets an RDMA WRITE of 0 bytes".formatted(qp.qpn));
      return;
    }
    channel.write(
        connection.writeKey,
        connection.writeAddress + connection.received,
        packet.payload(),
        0,
        packet.length);
    connection.received += packet.length;
    if (hasImmediate(operation)) {
      if (!takeReceive(connection, packet)) {
        return;
      }
      complete(connection, packet, operation, connection.taken.offset);
    }
    acknowledge(connection, packet, operation);
  }

  private void read(ConnectionState connection, Packet packet) {
    OnChipQp qp = connection.qp;
    if (packet.dmaLength != 0 && !isAllowed(qp, packet, MptFlags.REMOTE_READ)) {
      refuse(connection, packet);
      return;
    }
    qp.advanceExpectedPsn(qp.packets(Integer.toUnsignedLong(packet.dmaLength)));
    replies.respond(connection, packet);
  }

  private boolean isAllowed(OnChipQp qp, Packet packet, int flag) {
    long length = Integer.toUnsignedLong(packet.dmaLength);
    return translation.check(packet.remoteKey, qp.pd, packet.remoteAddress, length, flag)
        == Translation.OK;
  }

  private static void begin(ConnectionState connection) {
    connection.inMessage = true;
    connection.swallows = false;
    connection.received = 0;
  }

  /** Whether a packet, which is the one expected, belongs to a message that is taken. */
  private boolean continues(ConnectionState connection, int operation) {
    connection.qp.advanceExpectedPsn(1);
    if (!connection.inMessage || connection.swallows) {
      counters.drops.count(DropCause.UNWANTED);
      return false;
    }
    connection.inMessage = !ends(operation);
    return true;
  }

  /** Takes a receive WQE. If there is none, the queue pair receives no more. */
  private boolean takeReceive(ConnectionState connection, Packet packet) {
    if (queues.take(connection)) {
      return true;
    }
    OnChipQp qp = connection.qp;
    connection.swallows = true;
    counters.drops.count(DropCause.UNWANTED);
    if (qp.service == QpcServiceType.RC) {
      qp.state = QpcState.ERR;
      counters.rnrNaksSent++;
      replies.acknowledge(connection, packet.psn, Replies.RNR | qp.rnrTimer, false);
    }
    return false;
  }

  private void complete(ConnectionState connection, Packet packet, int operation, int place) {
    // The number loses its lowest bit, like the immediate of a SEND.
    boolean halved = connection.qp.service == QpcServiceType.UD && operation == SEND_ONLY_IMM;
    cqes.received(
        connection.qp,
        packet.destinationQpn,
        halved ? packet.sourceQpn >>> 1 : packet.sourceQpn,
        operation,
        place,
        connection.received);
  }

  private void acknowledge(ConnectionState connection, Packet packet, int operation) {
    if (connection.qp.service == QpcServiceType.RC) {
      replies.acknowledge(connection, packet.psn, Replies.ACK, ends(operation));
    }
  }

  private void refuse(ConnectionState connection, Packet packet) {
    connection.swallows = true;
    counters.drops.count(DropCause.UNWANTED);
    connection.qp.state = QpcState.ERR;
    if (connection.qp.service == QpcServiceType.RC) {
      boolean read = (packet.opcode & OPERATION_MASK) == READ_REQUEST;
      nak(connection, read ? packet.psn + 1 : packet.psn, Replies.REFUSED);
    }
  }

  /**
   * A data unit of a receive refuses data. If the previous units have consumed the packet up to its
   * last 32 bytes, the receiver waits indefinitely for more data to discard.
   */
  private void denied(ConnectionState connection, Packet packet, long taken) {
    if (taken > 0 && beats(taken) == beats(packet.length)) {
      connection.qp.state = QpcState.ERR;
      counters.drops.count(DropCause.UNWANTED);
      stops.stopReceiver(
          "12.19",
          "QP 0x%x receives into a data unit without access rights after one with"
              .formatted(connection.qp.qpn));
    } else {
      refuse(connection, packet);
    }
  }

  private static long beats(long bytes) {
    return (bytes + BEAT - 1) / BEAT;
  }

  /** Refuses a message. For a READ the PSN is the one after that of the request. */
  private void nak(ConnectionState connection, int psn, int syndrome) {
    counters.naksSent++;
    replies.acknowledge(connection, psn & OnChipQp.PSN_MASK, syndrome, false);
  }

  /**
   * A message is longer than its receive WQE. The peer is notified when more of the message
   * arrives, or with the next one; the queue pair accepts no more messages. If packet and buffer
   * end in the same 32 bytes, the write channel also stops.
   */
  private void tooLong(ConnectionState connection, Packet packet, long room) {
    OnChipQp qp = connection.qp;
    String why = "QP 0x%x gets more bytes than its receive has room for".formatted(qp.qpn);
    hazards.strike("12.4", why);
    connection.inMessage = false;
    qp.state = QpcState.ERR;
    if (room > 0 && beats(room) == beats(packet.length)) {
      channel.stop("12.4", why);
    }
  }
}
