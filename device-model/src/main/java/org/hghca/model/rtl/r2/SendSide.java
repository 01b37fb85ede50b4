package org.hghca.model.rtl.r2;

import static org.hghca.wire.PacketOpcode.*;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.hghca.abi.DataUnit;
import org.hghca.abi.Doorbell;
import org.hghca.abi.InlineUnit;
import org.hghca.abi.NextUnit;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.abi.UdUnit;
import org.hghca.abi.WqeOpcode;
import org.hghca.model.rtl.ConnectionState;
import org.hghca.model.rtl.Doorbells;
import org.hghca.model.rtl.OnChipQp;
import org.hghca.model.rtl.OutgoingMessage;
import org.hghca.model.rtl.SendWqe;
import org.hghca.model.rtl.SgeList;
import org.hghca.model.rtl.Stops;
import org.hghca.model.rtl.Translation;
import org.hghca.model.transport.TransportCounters;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Packet;

/**
 * The send side of the second RTL. It processes each send queue slot by slot from its own offset;
 * from a doorbell it takes only the queue pair and the end position. Size and opcode of a WQE are
 * in the WQE. The order of queue pairs is unknown.
 */
final class SendSide {
  private static final int UNIT = 16;
  private static final int LARGEST = 1024;

  private final R2Engine engine;
  private final Translation translation;
  private final Doorbells doorbells;
  private final EthernetPort port;
  private final Stops stops;
  private final CqeWriter cqes;
  private final TransportCounters counters;
  private final RandomGenerator random;
  private final MemorySegment bytes = Arena.ofAuto().allocate(LARGEST, 64);
  private final SendWqe wqe = new SendWqe();
  private final List<QueuePositions> ready = new ArrayList<>();

  /** The queue pair of the message in progress; {@code null} for none. */
  private QueuePositions current;

  private long sent;

  SendSide(
      R2Engine engine,
      Translation translation,
      Doorbells doorbells,
      EthernetPort port,
      Stops stops,
      CqeWriter cqes,
      TransportCounters counters,
      RandomGenerator random) {
    this.engine = engine;
    this.translation = translation;
    this.doorbells = doorbells;
    this.port = port;
    this.stops = stops;
    this.cqes = cqes;
    this.counters = counters;
    this.random = random;
  }

  boolean run(int budget) {
    int left = budget;
    while (left > 0 && !stops.sender()) {
      while (doorbells.hasEntry()) {
        doorbellRung(doorbells.take());
      }
      if (current != null) {
        sendPacket();
      } else if (!ready.isEmpty()) {
        fetch(ready.get(random.nextInt(ready.size())));
      } else {
        break;
      }
      left--;
    }
    return left < budget;
  }

  private void doorbellRung(long doorbell) {
    QueuePositions queues = engine.queues(Doorbell.qpn(doorbell));
    queues.head = Doorbell.headUnits16(doorbell) * UNIT;
    queues.hasReachedHead = false;
    if (!queues.isRung) {
      queues.isRung = true;
      ready.add(queues);
    }
  }

  private void fetch(QueuePositions queues) {
    OnChipQp qp = queues.connection.qp;
    int offset = queues.sendOffset;
    int stride = 1 << qp.sendStrideLog;
    if (!qp.programmed || offset + stride > qp.sendLength || stride > LARGEST) {
      stops.stopSender("12.7", "QP 0x%x has no send queue to go through".formatted(qp.qpn));
      return;
    }
    translation.readQueue(qp.sendKey, offset, bytes, 0, stride);
    queues.sendOffset = (offset + stride) % qp.sendLength;
    queues.hasReachedHead |= offset == queues.head;
    if (queues.hasReachedHead && NextUnit.nextSize16(bytes, 0) == 0) {
      queues.isRung = false;
      ready.remove(queues);
    }
    if (parse(qp, offset, NextUnit.size16(bytes, 0) * UNIT)) {
      current = queues;
      sent = 0;
      if (qp.service == QpcServiceType.RC) {
        engine.begin(queues.connection, wqe);
      }
    }
  }

  private boolean parse(OnChipQp qp, int offset, int size) {
    wqe.clear();
    wqe.opcode = NextUnit.opcode(bytes, 0);
    wqe.offset = offset;
    wqe.immediate = NextUnit.immediate(bytes, 0);
    boolean datagram = qp.service == QpcServiceType.UD;
    int at = UNIT;
    switch (wqe.opcode) {
      case WqeOpcode.SEND, WqeOpcode.SEND_IMM -> {
        if (datagram) {
          wqe.destinationMac = UdUnit.destinationMac(bytes, at);
          wqe.destinationIp = UdUnit.destinationIp(bytes, at);
          wqe.destinationQpn = UdUnit.destinationQpn(bytes, at);
          at += UdUnit.SIZE;
        }
      }
      case WqeOpcode.RDMA_WRITE, WqeOpcode.RDMA_WRITE_IMM, WqeOpcode.RDMA_READ -> {
        wqe.remoteAddress = RemoteAddressUnit.address(bytes, at);
        wqe.remoteKey = RemoteAddressUnit.rkey(bytes, at);
        at += RemoteAddressUnit.SIZE;
      }
      default -> {
        return stop("opcode 0x%x in the WQE".formatted(wqe.opcode), qp, offset);
      }
    }
    if (size <= at || size > 1 << qp.sendStrideLog) {
      return stop("WQE of %d bytes".formatted(size), qp, offset);
    }
    if (DataUnit.isInline(DataUnit.firstDword(bytes, at))) {
      int length = InlineUnit.length(bytes, at);
      if (datagram || length > size - at - InlineUnit.HEADER_SIZE) {
        return stop("inline data of a datagram, or beyond the WQE", qp, offset);
      }
      wqe.inline(bytes, (long) at + InlineUnit.HEADER_SIZE, length);
    } else {
      for (; at < size && wqe.data.count() < SgeList.MAX; at += UNIT) {
        wqe.data.add(
            DataUnit.byteCount(bytes, at), DataUnit.lkey(bytes, at), DataUnit.address(bytes, at));
      }
      wqe.length = wqe.data.total();
    }
    return wqe.length > 0 && !wqe.data.hasEmpty() || stop("a length of zero", qp, offset);
  }

  private boolean stop(String why, OnChipQp qp, int offset) {
    stops.stopSender("12.7", "%s of QP 0x%x at 0x%x".formatted(why, qp.qpn, offset));
    return false;
  }

  private void sendPacket() {
    ConnectionState connection = current.connection;
    OnChipQp qp = connection.qp;
    Packet packet = connection.address(port.pool().take());
    packet.psn = qp.nextSendPsn;
    boolean last = true;
    boolean write = wqe.opcode == WqeOpcode.RDMA_WRITE || wqe.opcode == WqeOpcode.RDMA_WRITE_IMM;
    if (wqe.opcode == WqeOpcode.RDMA_READ) {
      packet.opcode = READ_REQUEST;
    } else {
      boolean immediate =
          wqe.opcode == WqeOpcode.RDMA_WRITE_IMM || wqe.opcode == WqeOpcode.SEND_IMM;
      packet.length = (int) Math.min(wqe.length - sent, qp.packetSize());
      last = sent + packet.length == wqe.length;
      packet.opcode =
          OutgoingMessage.service(qp)
              | OutgoingMessage.operation(write, sent == 0, last, immediate);
      packet.immediate = wqe.immediate;
      wqe.gather(translation, packet.payload(), packet.length);
      sent += packet.length;
    }
    packet.remoteAddress = wqe.remoteAddress;
    packet.remoteKey = wqe.remoteKey;
    packet.dmaLength = (int) wqe.length;
    if (qp.service == QpcServiceType.UD) {
      packet.destinationMac = wqe.destinationMac;
      packet.destinationIpv4(wqe.destinationIp);
      packet.destinationQpn = wqe.destinationQpn;
    }
    connection.advance(packet.psn, 1);
    counters.packetsSent++;
    port.transmit(packet);
    if (last) {
      current = null;
      if (qp.service != QpcServiceType.RC) {
        cqes.sent(qp, wqe.opcode, wqe.offset, wqe.length);
      }
    }
  }

  void reset() {
    current = null;
    ready.clear();
  }
}
