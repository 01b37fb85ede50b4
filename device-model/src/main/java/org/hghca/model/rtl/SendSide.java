package org.hghca.model.rtl;

import static org.hghca.model.link.PacketOpcode.*;

import org.hghca.abi.Doorbell;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QpcState;
import org.hghca.abi.Syndrome;
import org.hghca.abi.WqeOpcode;
import org.hghca.model.link.Packet;
import org.hghca.model.link.Port;
import org.hghca.model.transport.TransportCounters;

/**
 * The send side, which takes one WQE at a time for the whole card: those of a chain one after the
 * other, then the next doorbell.
 */
final class SendSide {
  private static final int DOORBELL_OFFSET_SHIFT = 8;
  private static final int DOORBELL_OFFSET_MASK = 0xff_ffff;
  private static final int UNIT = 16;

  private final Connections connections;
  private final Translation translation;
  private final Doorbells doorbells;
  private final Port port;
  private final Stops stops;
  private final Hazards hazards;
  private final WqeParser parser;
  private final Requester requester;
  private final CqeWriter cqes;
  private final TransportCounters counters;
  private final PayloadStream payloads;
  private final SendWqe wqe = new SendWqe();

  /** Whose WQE is under way, or was last. */
  private Connection connection;

  /** Whether packets of {@link #wqe} are left to send; how many bytes have been sent. */
  private boolean sending;

  private long sent;

  /** The WQE that is next: its size in units of 16 bytes, 0 for none. */
  private boolean hasNext;

  private int nextOpcode;
  private long nextOffset;
  private int nextSize;

  SendSide(
      Connections connections,
      Translation translation,
      Doorbells doorbells,
      Port port,
      Stops stops,
      Hazards hazards,
      Requester requester,
      CqeWriter cqes,
      TransportCounters counters) {
    this.connections = connections;
    this.translation = translation;
    this.doorbells = doorbells;
    this.port = port;
    this.stops = stops;
    this.hazards = hazards;
    this.parser = new WqeParser(translation, stops);
    this.requester = requester;
    this.cqes = cqes;
    this.counters = counters;
    this.payloads = new PayloadStream();
  }

  /**
   * Sends packets.
   *
   * @param budget how many packets and WQEs to be done with at most
   * @return whether there was anything to do
   */
  boolean run(int budget) {
    int left = budget;
    while (left > 0 && !stops.sender()) {
      if (sending) {
        sendPacket();
      } else if (hasNext) {
        hasNext = false;
        begin();
      } else if (doorbells.hasEntry()) {
        ring(doorbells.take());
      } else {
        break;
      }
      left--;
    }
    return left < budget;
  }

  private void ring(long doorbell) {
    connection = connections.of(Doorbell.qpn(doorbell));
    nextOpcode = Doorbell.opcode(doorbell);
    nextOffset = (long) ((int) doorbell >>> DOORBELL_OFFSET_SHIFT & DOORBELL_OFFSET_MASK) * UNIT;
    nextSize = Doorbell.size16(doorbell);
    hasNext = true;
  }

  private void begin() {
    QueuePair qp = connection.qp;
    SendWqe.Outcome outcome = parser.parse(qp, nextOpcode, nextOffset, nextSize, wqe);
    if (outcome == SendWqe.Outcome.STOPPED) {
      return;
    }
    hasNext = wqe.nextSize > 0;
    nextOpcode = wqe.nextOpcode;
    nextOffset = wqe.nextOffset;
    nextSize = wqe.nextSize;
    if (outcome == SendWqe.Outcome.DROPPED || refuses(qp)) {
      return;
    }
    if (outcome == SendWqe.Outcome.DENIED) {
      if (qp.service == QpcServiceType.RC) {
        requester.fail(connection, wqe);
      } else {
        fail(Syndrome.LOCAL_ACCESS_ERR);
      }
      qp.state = QpcState.ERR;
    } else if (!wqe.hasData) {
      if (wqe.opcode == WqeOpcode.SEND || wqe.opcode == WqeOpcode.SEND_IMM) {
        cqes.sent(qp, wqe.opcode, wqe.offset, 0);
      }
      stops.stopAll("12.1", "WQE without data on QP 0x%x".formatted(qp.qpn));
    } else {
      start(qp);
    }
  }

  /** Completes a WQE with an error that its state or service does not let be sent. */
  private boolean refuses(QueuePair qp) {
    boolean datagram = qp.service == QpcServiceType.UD;
    boolean reliable = qp.service == QpcServiceType.RC;
    boolean send = wqe.opcode == WqeOpcode.SEND || wqe.opcode == WqeOpcode.SEND_IMM;
    if (qp.state > QpcState.RTS) {
      if (reliable) {
        requester.flush(connection);
      }
      fail(qp.state == QpcState.SQE ? Syndrome.UNKNOWN : Syndrome.WR_FLUSH_ERR);
      return true;
    }
    if (!reliable && wqe.opcode == WqeOpcode.RDMA_READ || datagram && !send) {
      fail(Syndrome.LOCAL_QP_OP_ERR);
      return true;
    }
    if (datagram && wqe.length > qp.packetSize()) {
      fail(Syndrome.LOCAL_LENGTH_ERR);
      return true;
    }
    return false;
  }

  private void fail(Syndrome syndrome) {
    if (!connection.completesNothing) {
      cqes.failed(connection.qp, wqe.opcode, wqe.offset, syndrome.code());
    }
  }

  private void start(QueuePair qp) {
    if (wqe.length == 0 || wqe.data.hasEmpty()) {
      hazards.strike(
          "12.1", "WQE of QP 0x%x with nothing in it, or in one data unit".formatted(qp.qpn));
      if (wqe.opcode != WqeOpcode.RDMA_READ) {
        payloads.skew();
      }
    }
    sending = true;
    sent = 0;
    if (qp.service == QpcServiceType.RC) {
      requester.begin(connection, wqe);
    }
  }

  private void sendPacket() {
    QueuePair qp = connection.qp;
    if (qp.state > QpcState.RTS) {
      // Moved there between two packets: RC leaves it to the next WQE to flush.
      sending = false;
      if (qp.service != QpcServiceType.RC) {
        fail(Syndrome.WR_FLUSH_ERR);
      }
      return;
    }
    Packet packet = connection.address(port.pool().take());
    packet.psn = qp.nextSendPsn;
    if (wqe.opcode == WqeOpcode.RDMA_READ) {
      packet.opcode = READ_REQUEST;
      packet.ackRequest = true;
      remoteMemory(packet);
      connection.advance(qp.packets(wqe.length));
      sending = false;
    } else {
      fill(packet);
      connection.advance(1);
    }
    if (qp.service == QpcServiceType.UD) {
      packet.destinationMac = wqe.destinationMac;
      packet.destinationIp = wqe.destinationIp;
      packet.destinationQpn = wqe.destinationQpn;
      packet.queueKey = wqe.queueKey;
    }
    counters.packetsSent++;
    port.transmit(packet);
    if (!sending && qp.service != QpcServiceType.RC) {
      completeUnreliable(qp);
    }
  }

  private void fill(Packet packet) {
    QueuePair qp = connection.qp;
    int length = (int) Math.min(wqe.length - sent, qp.packetSize());
    boolean first = sent == 0;
    boolean last = sent + length == wqe.length;
    boolean write = wqe.opcode == WqeOpcode.RDMA_WRITE || wqe.opcode == WqeOpcode.RDMA_WRITE_IMM;
    boolean immediate = wqe.opcode == WqeOpcode.RDMA_WRITE_IMM || wqe.opcode == WqeOpcode.SEND_IMM;
    packet.opcode = service(qp) | operation(write, first, last, immediate);
    packet.ackRequest = qp.service == QpcServiceType.RC;
    packet.length = length;
    if (length > 0) {
      wqe.gather(translation, packet.payload(), length);
    }
    payloads.pass(packet);
    if (write && first) {
      remoteMemory(packet);
    }
    if (last && immediate) {
      // The immediate of a SEND loses its lowest bit on the way to the wire.
      packet.immediate = write ? wqe.immediate : wqe.immediate >>> 1;
    }
    sent += length;
    sending = !last;
  }

  static int operation(boolean write, boolean first, boolean last, boolean immediate) {
    int base = write ? WRITE_FIRST : SEND_FIRST;
    if (!last) {
      return base + (first ? SEND_FIRST : SEND_MIDDLE);
    }
    return base + (first ? SEND_ONLY : SEND_LAST) + (immediate ? 1 : 0);
  }

  static int service(QueuePair qp) {
    return switch (qp.service) {
      case QpcServiceType.RC -> RC;
      case QpcServiceType.UC -> UC;
      default -> UD;
    };
  }

  private void remoteMemory(Packet packet) {
    packet.remoteAddress = wqe.remoteAddress;
    packet.remoteKey = wqe.remoteKey;
    packet.dmaLength = (int) wqe.length;
  }

  private void completeUnreliable(QueuePair qp) {
    if (qp.state == QpcState.RST) {
      fail(Syndrome.UNKNOWN); // and yet it was sent
    } else {
      cqes.sent(qp, wqe.opcode, wqe.offset, wqe.length);
    }
  }

  /** The peer has refused what a queue pair sends: nothing is left to send of its message. */
  void refused(Connection by) {
    if (connection == by) {
      sending = false;
    }
  }

  void reset() {
    connection = null;
    sending = false;
    hasNext = false;
    parser.reset();
    payloads.reset();
  }
}
