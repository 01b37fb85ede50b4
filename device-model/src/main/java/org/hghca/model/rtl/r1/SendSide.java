package org.hghca.model.rtl.r1;

import org.hghca.abi.Doorbell;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QpcState;
import org.hghca.abi.Syndrome;
import org.hghca.abi.WqeOpcode;
import org.hghca.model.rtl.ConnectionState;
import org.hghca.model.rtl.ConnectionStates;
import org.hghca.model.rtl.Doorbells;
import org.hghca.model.rtl.Hazards;
import org.hghca.model.rtl.OnChipQp;
import org.hghca.model.rtl.OutgoingMessage;
import org.hghca.model.rtl.SendWqe;
import org.hghca.model.rtl.Stops;
import org.hghca.model.rtl.Translation;
import org.hghca.model.transport.TransportCounters;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;

/**
 * The send side, which sends one message at a time for the whole card. A message that waits for its
 * fence blocks all later ones.
 */
final class SendSide {
  /** No limit on the packets that may leave. */
  private static final int UNBOUNDED = -1;

  private final ConnectionStates connections;
  private final EthernetPort port;
  private final Stops stops;
  private final Hazards hazards;
  private final WqeScheduler scheduler;
  private final WqeParser parser;
  private final Requester requester;
  private final CqeWriter cqes;
  private final TransportCounters counters;
  private final OutgoingMessage message;

  /** The message's WQE. */
  private final SendWqe wqe;

  /** A packet that is complete and waits for the READs in front of it; {@code null} for none. */
  private Packet fenced;

  /** Packets that may leave before host memory stops answering. */
  private int untilStall = UNBOUNDED;

  SendSide(
      ConnectionStates connections,
      Translation translation,
      Doorbells doorbells,
      EthernetPort port,
      Stops stops,
      Hazards hazards,
      Requester requester,
      CqeWriter cqes,
      TransportCounters counters) {
    this.connections = connections;
    this.port = port;
    this.stops = stops;
    this.hazards = hazards;
    this.scheduler = new WqeScheduler(doorbells, hazards);
    this.parser = new WqeParser(translation, stops);
    this.requester = requester;
    this.cqes = cqes;
    this.counters = counters;
    this.message = new OutgoingMessage(translation, port);
    this.wqe = message.wqe;
  }

  /**
   * Sends packets.
   *
   * @param budget maximum number of packets, and of WQEs to parse
   * @return whether there was anything to do
   */
  boolean run(int budget) {
    int packets = budget;
    int wqes = budget;
    while (packets > 0 && wqes > 0 && !stops.sender()) {
      if (fenced != null) {
        if (message.connection.hasReads()) {
          break;
        }
        passFence();
        packets--;
      } else if (message.continues()) {
        if (untilStall == 0) {
          break;
        }
        sendPacket();
        packets--;
      } else if (scheduler.hasNext()) {
        begin(scheduler.take());
        wqes--;
      } else {
        break;
      }
    }
    return packets < budget || wqes < budget;
  }

  /**
   * Limits the number of packets that leave, as if payload did not arrive; -1 removes the limit.
   */
  void stallAfter(int packets) {
    untilStall = packets;
  }

  /**
   * Whether payload that waits for a fence blocks the path of READ responses: more than one packet
   * of it.
   */
  boolean holdsPayload() {
    return fenced != null && message.continues();
  }

  private void begin(long doorbell) {
    message.connection = connections.of(Doorbell.qpn(doorbell));
    OnChipQp qp = message.connection.qp;
    SendWqe.Outcome outcome = parser.parse(qp, doorbell, wqe);
    if (outcome == SendWqe.Outcome.STOPPED) {
      return;
    }
    scheduler.parsed(doorbell, wqe);
    if (outcome == SendWqe.Outcome.DROPPED || refuses(qp)) {
      return;
    }
    if (outcome == SendWqe.Outcome.DENIED) {
      if (qp.service == QpcServiceType.RC) {
        requester.fail(message.connection, wqe);
      } else {
        fail(Syndrome.LOCAL_ACCESS_ERR);
      }
      qp.state = QpcState.ERR;
    } else if (!wqe.hasData) {
      if (isSend()) {
        cqes.sent(qp, wqe.qpn, wqe.opcode, wqe.offset, 0);
      }
      stops.stopAll("12.1", "WQE without data on QP 0x%x".formatted(qp.qpn));
    } else {
      start(qp);
    }
  }

  private boolean isSend() {
    return wqe.opcode == WqeOpcode.SEND || wqe.opcode == WqeOpcode.SEND_IMM;
  }

  /** A SEND of one packet asks for no acknowledgement if its immediate is 0; it gets one. */
  private boolean asksForNothing(Packet packet) {
    return packet.opcode == (PacketOpcode.RC | PacketOpcode.SEND_ONLY_IMM) && wqe.immediate == 0;
  }

  /** Completes with an error a WQE that the state or service does not allow. */
  private boolean refuses(OnChipQp qp) {
    boolean datagram = qp.service == QpcServiceType.UD;
    boolean reliable = qp.service == QpcServiceType.RC;
    if (qp.state > QpcState.RTS) {
      if (reliable) {
        requester.flush(message.connection);
      }
      fail(qp.state == QpcState.SQE ? Syndrome.UNKNOWN : Syndrome.WR_FLUSH_ERR);
      return true;
    }
    if (!reliable && wqe.opcode == WqeOpcode.RDMA_READ || datagram && !isSend()) {
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
    if (!message.connection.completesNothing) {
      cqes.failed(message.connection.qp, wqe.qpn, wqe.opcode, wqe.offset, syndrome.code());
    }
  }

  private void start(OnChipQp qp) {
    if (wqe.length == 0 || wqe.data.hasEmpty()) {
      hazards.strike(
          "12.1", "WQE of QP 0x%x with nothing in it, or in one data unit".formatted(qp.qpn));
      if (wqe.opcode != WqeOpcode.RDMA_READ) {
        message.skewPayload();
      }
    }
    boolean reliable = qp.service == QpcServiceType.RC;
    boolean behindReads = wqe.fence && reliable && message.connection.hasReads();
    message.begin();
    if (reliable) {
      requester.begin(message.connection, wqe);
    }
    if (behindReads && isSend()) {
      hazards.strike(
          "12.15", "fenced SEND of QP 0x%x: its payload is already fetched".formatted(qp.qpn));
      fenced = message.fetch();
    } else if (behindReads) {
      hazards.strike(
          "12.15", "fence of a request of QP 0x%x that is no SEND: ignored".formatted(qp.qpn));
    }
  }

  private void passFence() {
    Packet packet = fenced;
    fenced = null;
    if (message.connection.qp.state > QpcState.RTS) {
      port.pool().giveBack(packet);
      message.end();
    } else {
      transmit(packet);
    }
  }

  private void sendPacket() {
    OnChipQp qp = message.connection.qp;
    boolean reliable = qp.service == QpcServiceType.RC;
    if (reliable && message.isOvertaken()) {
      if (requester.hasBegunToComplete(message.connection)) {
        stops.stopSender(
            "12.17", "QP 0x%x was ended by MODIFY_QP in the middle of a message".formatted(qp.qpn));
        return;
      }
    } else if (qp.state > QpcState.RTS) {
      // Moved there between two packets: on RC, the next WQE flushes it.
      message.end();
      if (!reliable) {
        fail(Syndrome.WR_FLUSH_ERR);
      }
      return;
    }
    transmit(message.fetch());
    if (!message.continues() && !reliable) {
      completeUnreliable(qp);
    }
  }

  private void transmit(Packet packet) {
    untilStall -= untilStall > 0 ? 1 : 0;
    packet.ackRequest &= !asksForNothing(packet);
    counters.packetsSent++;
    port.transmit(packet);
  }

  private void completeUnreliable(OnChipQp qp) {
    if (qp.state == QpcState.RST) {
      fail(Syndrome.UNKNOWN); // and yet it was sent
    } else {
      cqes.sent(qp, wqe.qpn, wqe.opcode, wqe.offset, wqe.length);
    }
  }

  /** The peer has refused what a queue pair sends: nothing is left to send of its message. */
  void refused(ConnectionState by) {
    if (message.connection == by) {
      message.end();
    }
  }

  void reset() {
    fenced = null;
    untilStall = UNBOUNDED;
    scheduler.reset();
    parser.reset();
    message.reset();
  }
}
