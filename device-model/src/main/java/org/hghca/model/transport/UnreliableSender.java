package org.hghca.model.transport;

import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;

/**
 * The sending half of an unreliable connection or of datagrams: cuts work requests into packets and
 * completes them with their last packet. One that cannot be executed completes with an error and
 * moves the send queue to SQE.
 */
final class UnreliableSender implements SendSide {
  /** The bit of a work request's Q_Key that selects the queue pair's own. */
  private static final int OWN_QUEUE_KEY = 0x8000_0000;

  private final TransportParts parts;
  private final Endpoint endpoint;
  private final boolean datagrams;

  /** The request whose packets are being sent, or null. */
  private SendWork current;

  /** Number of its packets sent. */
  private int packetsSent;

  UnreliableSender(TransportParts parts, Endpoint endpoint) {
    this.parts = parts;
    this.endpoint = endpoint;
    this.datagrams = endpoint.service == Service.UD;
  }

  @Override
  public void reset() {
    if (current != null) {
      parts.requests.recycle(current);
      current = null;
    }
  }

  @Override
  public int send(ConnectionContext qp, int budget) {
    int sent = 0;
    while (sent < budget) {
      if (current == null && (qp.state == QueuePairState.SQD || !take(qp))) {
        break;
      }
      if (current.status == WorkStatus.SUCCESS) {
        sendPacket(qp);
      }
      if (current.status != WorkStatus.SUCCESS) {
        end(qp, current.status);
        parts.errors.enterSendError(endpoint, qp);
        break;
      }
      sent++;
      if (packetsSent == current.packets) {
        end(qp, WorkStatus.SUCCESS);
      }
    }
    return sent;
  }

  @Override
  public boolean isDrained() {
    return current == null;
  }

  private boolean take(ConnectionContext qp) {
    SendWork request = parts.requests.nextSend(qp);
    if (request == null) {
      return false;
    }
    if (request.status == WorkStatus.SUCCESS) {
      request.status = check(qp, request);
    }
    if (request.status == WorkStatus.SUCCESS) {
      request.mtu = qp.mtu;
      request.packets = SendWork.packets(request.length(), qp.mtu);
    }
    current = request;
    packetsSent = 0;
    return true;
  }

  private WorkStatus check(ConnectionContext qp, SendWork request) {
    boolean can =
        datagrams ? !request.operation.usesRemoteMemory() : !request.operation.isAnsweredWithData();
    return can && qp.mtu != 0
        ? request.check(parts.memory, qp.pd, datagrams ? qp.mtu : SendWork.MAX_LENGTH)
        : WorkStatus.LOCAL_OPERATION;
  }

  private void sendPacket(ConnectionContext qp) {
    SendWork request = current;
    boolean isFirst = packetsSent == 0;
    boolean isLast = packetsSent == request.packets - 1;
    Packet packet = datagrams ? datagram(qp, request) : parts.output.packetTo(qp);
    packet.opcode =
        endpoint.service.opcodeBits() | request.operation.packetOperation(isFirst, isLast);
    packet.psn = qp.nextSendPsn;
    packet.solicited = isLast && request.solicited;
    if (request.fill(parts.memory, qp.pd, packetsSent, packet) != MemoryStatus.OK) {
      request.status = WorkStatus.LOCAL_PROTECTION;
      parts.output.drop(packet);
      return;
    }
    packetsSent++;
    qp.nextSendPsn = Psn.add(qp.nextSendPsn, 1);
    qp.setChanged(true);
    parts.output.transmit(packet);
  }

  /** A packet to the destination of a work request. */
  private Packet datagram(ConnectionContext qp, SendWork request) {
    Packet packet = parts.output.packet();
    packet.destinationMac = request.destinationMac;
    packet.sourceMac = request.sourceMac;
    request.path.putInto(packet);
    packet.destinationQpn = request.destinationQpn;
    packet.sourceQpn = qp.qpn;
    packet.queueKey = (request.queueKey & OWN_QUEUE_KEY) != 0 ? qp.queueKey : request.queueKey;
    return packet;
  }

  private void end(ConnectionContext qp, WorkStatus status) {
    SendWork request = current;
    current = null;
    parts.requests.sendDone(qp, request, status);
  }

  @Override
  public void flush(ConnectionContext qp) {
    if (current != null) {
      end(qp, WorkStatus.FLUSHED);
    }
    parts.requests.flushSends(qp);
  }

  /** There are no responses. */
  @Override
  public void receive(ConnectionContext qp, Packet packet, int operation) {
    parts.counters.drops.count(DropCause.UNWANTED);
  }
}
