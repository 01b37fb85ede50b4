package org.hghca.model.rtl;

import static org.hghca.wire.PacketOpcode.*;

import org.hghca.abi.QpcServiceType;
import org.hghca.abi.WqeOpcode;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Packet;

/**
 * The message that the send side is sending, packet by packet. The object is reused. It tracks its
 * own packet sequence: a MODIFY_QP does not change that.
 */
public final class OutgoingMessage {
  private final Translation translation;
  private final EthernetPort port;
  private final PayloadStream payloads = new PayloadStream();

  public final SendWqe wqe = new SendWqe();

  /** Its queue pair; {@code null} before the first. */
  public ConnectionState connection;

  /** Whether packets are left to fetch, and the number of bytes already fetched. */
  private boolean continues;

  private long sent;

  /** How often MODIFY_QP had ended its queue pair when it began. */
  private int endings;

  public OutgoingMessage(Translation translation, EthernetPort port) {
    this.translation = translation;
    this.port = port;
  }

  public boolean continues() {
    return continues;
  }

  /** Starts it with the current WQE and queue pair. */
  public void begin() {
    continues = true;
    sent = 0;
    endings = connection.qp.endings();
  }

  /** Nothing more of it is sent. */
  public void end() {
    continues = false;
    if (connection != null) {
      connection.sendsOn = false;
    }
  }

  /** From now on each packet has the payload of the one before it. */
  public void skewPayload() {
    payloads.skew();
  }

  /** Whether a MODIFY_QP to RESET or ERR has come since it began. */
  public boolean isOvertaken() {
    return endings != connection.qp.endings();
  }

  /** Makes the next packet, with its payload. */
  public Packet fetch() {
    OnChipQp qp = connection.qp;
    Packet packet = connection.address(port.pool().take());
    packet.sourceQpn = wqe.qpn;
    packet.psn = sent == 0 ? qp.nextSendPsn : connection.sentUpToPsn;
    if (wqe.opcode == WqeOpcode.RDMA_READ) {
      packet.opcode = READ_REQUEST;
      packet.ackRequest = true;
      remoteMemory(packet);
      connection.advance(packet.psn, qp.packets(wqe.length));
      continues = false;
    } else {
      fill(packet);
      connection.advance(packet.psn, 1);
    }
    connection.sendsOn = continues;
    if (qp.service == QpcServiceType.UD) {
      packet.destinationMac = wqe.destinationMac;
      packet.destinationIpv4(wqe.destinationIp);
      packet.destinationQpn = wqe.destinationQpn;
      packet.queueKey = wqe.queueKey;
    }
    return packet;
  }

  private void fill(Packet packet) {
    OnChipQp qp = connection.qp;
    int length = (int) Math.min(wqe.length - sent, qp.packetSize());
    boolean first = sent == 0;
    boolean last = sent + length == wqe.length;
    boolean write = wqe.opcode == WqeOpcode.RDMA_WRITE || wqe.opcode == WqeOpcode.RDMA_WRITE_IMM;
    boolean immediate = wqe.opcode == WqeOpcode.RDMA_WRITE_IMM || wqe.opcode == WqeOpcode.SEND_IMM;
    packet.opcode = service(qp) | operation(write, first, last, immediate);
    packet.ackRequest = qp.service == QpcServiceType.RC || qp.service == QpcServiceType.UC;
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
    continues = !last;
  }

  public static int operation(boolean write, boolean first, boolean last, boolean immediate) {
    int base = write ? WRITE_FIRST : SEND_FIRST;
    if (!last) {
      return base + (first ? SEND_FIRST : SEND_MIDDLE);
    }
    return base + (first ? SEND_ONLY : SEND_LAST) + (immediate ? 1 : 0);
  }

  public static int service(OnChipQp qp) {
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

  public void reset() {
    connection = null;
    continues = false;
    payloads.reset();
  }
}
