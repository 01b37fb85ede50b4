package org.hghca.model.rtl.r1;

import static org.hghca.wire.PacketOpcode.*;

import java.util.ArrayDeque;
import java.util.Deque;
import org.hghca.abi.QpcState;
import org.hghca.abi.Syndrome;
import org.hghca.abi.WqeOpcode;
import org.hghca.model.rtl.ConnectionState;
import org.hghca.model.rtl.Contexts;
import org.hghca.model.rtl.Hazards;
import org.hghca.model.rtl.Message;
import org.hghca.model.rtl.OnChipQp;
import org.hghca.model.rtl.Replies;
import org.hghca.model.rtl.SendWqe;
import org.hghca.model.rtl.Stops;
import org.hghca.model.transport.TransportCounters;
import org.hghca.wire.DropCause;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Packet;

/**
 * The requesting side of reliable connections, from the first packet of a message to its CQE. It
 * has no timer and no retries: a lost request, or one that found the receiver not ready, stays
 * outstanding. Packet sequence numbers are compared as plain numbers.
 */
final class Requester {
  private final boolean races;
  private final Hazards hazards;
  private final WriteChannel channel;
  private final CqeWriter cqes;
  private final EthernetPort port;
  private final TransportCounters counters;
  private final CompletionFlood flood;
  private final ZeroStorm storm;
  private final Traffic inFlight = new Traffic();
  private final Deque<Message> free = new ArrayDeque<>();

  /** Steps of the card. */
  private long step;

  private int payloads;
  private int gathered;

  Requester(
      boolean races,
      Contexts contexts,
      Hazards hazards,
      WriteChannel channel,
      CqeWriter cqes,
      Stops stops,
      EthernetPort port,
      TransportCounters counters) {
    this.races = races;
    this.hazards = hazards;
    this.channel = channel;
    this.cqes = cqes;
    this.port = port;
    this.counters = counters;
    this.flood = new CompletionFlood(hazards, cqes);
    this.storm = new ZeroStorm(contexts, stops, port, counters);
  }

  /** Starts a message at the next PSN. */
  void begin(ConnectionState connection, SendWqe wqe) {
    OnChipQp qp = connection.qp;
    lookForRewind(connection);
    Message message = take(wqe);
    message.firstPsn = qp.nextSendPsn;
    message.responsePsn = qp.nextSendPsn;
    message.lastPsn = qp.nextSendPsn + qp.packets(wqe.length) - 1 & OnChipQp.PSN_MASK;
    if ((message.lastPsn + 1 & OnChipQp.PSN_MASK) <= message.firstPsn) {
      counters.psnWraps++;
    }
    boolean read = wqe.opcode == WqeOpcode.RDMA_READ;
    if (read) {
      message.results.copy(wqe.data);
    }
    Message before = connection.newest(read);
    race(connection, message, before);
    if (!read) {
      flood.enter(message, before);
    }
    connection.outstanding.add(message);
    message.pieces = read ? 0 : Math.max(1, wqe.data.count());
    count(message, 1);
  }

  private void race(ConnectionState connection, Message message, Message before) {
    message.step = step;
    message.raced = races && before != null && before.step < step;
    if (message.raced) {
      hazards.strike(
          "12.18",
          "request of QP 0x%x is entered when the one before it is released"
              .formatted(connection.qp.qpn));
    }
  }

  /** A step of the card begins. */
  void step() {
    step++;
  }

  /**
   * Does in a step what never ends, which is not counted as work, else a simulation would never
   * become idle.
   *
   * @param most maximum number of packets
   */
  void rage(long now, int most) {
    storm.rage(now, most);
    flood.run();
  }

  /** Requests that are outstanding. */
  Traffic inFlight() {
    return inFlight;
  }

  /** Requests with payload that are outstanding. */
  int payloads() {
    return payloads;
  }

  /** Those of them whose payload is fetched in pieces. */
  int gathered() {
    return gathered;
  }

  private Message take(SendWqe wqe) {
    Message message = free.isEmpty() ? new Message() : free.remove();
    message.opcode = wqe.opcode;
    message.qpn = wqe.qpn;
    message.wqeOffset = wqe.offset;
    message.length = wqe.length;
    message.remoteAddress = wqe.remoteAddress;
    message.remoteKey = wqe.remoteKey;
    message.failed = false;
    message.raced = false;
    message.sentAgain = false;
    message.pieces = 0;
    message.results.clear();
    return message;
  }

  /** Completes a WQE that cannot be sent with an error, after the outstanding ones. */
  void fail(ConnectionState connection, SendWqe wqe) {
    Message message = take(wqe);
    message.failed = true;
    message.opcode = WqeOpcode.SEND; // nothing comes back for it
    message.firstPsn = connection.qp.nextSendPsn - 1;
    message.lastPsn = message.firstPsn;
    connection.outstanding.add(message);
    if (connection.outstanding.size() == 1) {
      complete(connection);
    }
  }

  /**
   * Detects that a MODIFY_QP has set back the PSNs although requests were unacknowledged: the card
   * loses track of completions permanently.
   */
  private static void lookForRewind(ConnectionState connection) {
    if (connection.sendsOn) {
      return;
    }
    Message newest = connection.outstanding.peekLast();
    int next = connection.qp.nextSendPsn;
    if (newest != null && next < connection.sentUpToPsn) {
      connection.completesNothing = true;
    }
  }

  /** Whether a part of the newest message was acknowledged when MODIFY_QP ended its queue pair. */
  boolean hasBegunToComplete(ConnectionState connection) {
    Message newest = connection.outstanding.peekLast();
    return newest != null && connection.qp.oldestUnackedAtEnding() > newest.firstPsn;
  }

  /** Completes everything outstanding with errors. */
  void flush(ConnectionState connection) {
    lookForRewind(connection);
    while (!connection.outstanding.isEmpty()) {
      Message message = remove(connection);
      if (!connection.completesNothing) {
        cqes.failed(
            connection.qp,
            message.qpn,
            message.opcode,
            message.wqeOffset,
            Syndrome.WR_FLUSH_ERR.code());
      }
      free.add(message);
    }
  }

  /**
   * A packet of the responder.
   *
   * @return whether it refuses what was sent
   */
  boolean receive(ConnectionState connection, Packet packet) {
    if (flood.hasBegun()) {
      counters.drops.count(DropCause.STOPPED);
      return false;
    }
    int operation = packet.opcode & OPERATION_MASK;
    if (operation != ACKNOWLEDGE) {
      response(connection, packet, operation);
      return false;
    }
    switch (packet.syndrome & Replies.KIND_MASK) {
      case Replies.ACK -> acknowledged(connection, packet.psn);
      case Replies.RNR -> counters.rnrNaksReceived++; // and nothing else: there is no retry
      default -> {
        counters.naksReceived++;
        return packet.syndrome != Replies.OUT_OF_ORDER && refused(connection, packet.psn);
      }
    }
    return false;
  }

  private void acknowledged(ConnectionState connection, int psn) {
    OnChipQp qp = connection.qp;
    lookForRewind(connection);
    if (psn < qp.oldestUnackedPsn
        || psn >= qp.nextSendPsn && qp.nextSendPsn > qp.oldestUnackedPsn) {
      counters.drops.count(DropCause.UNWANTED);
      return;
    }
    if (completeUpTo(connection, psn)) {
      qp.oldestUnackedPsn = psn + 1 & OnChipQp.PSN_MASK;
    }
  }

  /** Completes requests before a PSN, but not an RDMA READ or requests after one. */
  private boolean completeUpTo(ConnectionState connection, int psn) {
    for (Message oldest = connection.outstanding.peek();
        oldest != null && oldest.firstPsn <= psn;
        oldest = connection.outstanding.peek()) {
      if (oldest.opcode == WqeOpcode.RDMA_READ) {
        return false;
      }
      if (oldest.completingPsn() > psn) {
        return true;
      }
      complete(connection);
      if (oldest.completingPsn() == OnChipQp.PSN_MASK) {
        flood.begin(connection.qp, oldest);
        return true;
      }
    }
    return true;
  }

  private void complete(ConnectionState connection) {
    Message message = remove(connection);
    boolean read = message.opcode == WqeOpcode.RDMA_READ;
    connection.completesNothing |= message.raced && !read;
    if (connection.completesNothing) {
      // lost
    } else if (message.failed) {
      cqes.failed(connection.qp, message.qpn, message.opcode, message.wqeOffset, 0);
    } else {
      // A READ that was lost in the list gets the answer of the previous head of the list.
      int offset = message.raced ? connection.finishedRead : message.wqeOffset;
      cqes.sent(connection.qp, message.qpn, message.opcode, offset, message.length);
    }
    if (read) {
      connection.finishedRead = message.wqeOffset;
    }
    free.add(message);
  }

  private Message remove(ConnectionState connection) {
    Message message = connection.outstanding.remove();
    count(message, -1);
    return message;
  }

  private void count(Message message, int more) {
    if (!message.failed) {
      inFlight.count(message, more);
    }
    payloads += message.pieces > 0 ? more : 0;
    gathered += message.pieces > 1 ? more : 0;
  }

  private void response(ConnectionState connection, Packet packet, int operation) {
    completeUpTo(connection, packet.psn - 1);
    Message oldest = connection.outstanding.peek();
    if (oldest == null
        || oldest.opcode != WqeOpcode.RDMA_READ
        || oldest.responsePsn != packet.psn) {
      counters.drops.count(DropCause.UNWANTED);
      return;
    }
    OnChipQp qp = connection.qp;
    if (packet.length > 0) {
      channel.scatter(oldest.results, qp.pd, packet.payload(), packet.length);
    }
    oldest.responsePsn = packet.psn + 1 & OnChipQp.PSN_MASK;
    qp.oldestUnackedPsn = oldest.responsePsn;
    if (operation == READ_RESPONSE_LAST || operation == READ_RESPONSE_ONLY) {
      if (oldest.results.hasEmpty()) {
        channel.delayEntries();
      }
      complete(connection);
    }
  }

  /**
   * A NAK. A READ is sent again once. If its PSN is 0 and it has one response packet, the next NAK
   * ends its queue pair in order.
   *
   * @return whether the queue pair sends nothing any more
   */
  private boolean refused(ConnectionState connection, int psn) {
    Message read = refusedRead(connection, psn);
    if (read != null && !read.sentAgain) {
      sendAgain(connection, read);
      if (read.firstPsn != 0 || read.lastPsn != 0) {
        storm.begin(connection);
        return true;
      }
      return false;
    }
    if (connection.outstanding.isEmpty()) {
      return false;
    }
    connection.qp.state = QpcState.ERR;
    flush(connection);
    return true;
  }

  /** The READ that a NAK refuses: that with its PSN, or with the PSN before it. */
  private static Message refusedRead(ConnectionState connection, int psn) {
    for (Message message : connection.outstanding) {
      if (message.opcode == WqeOpcode.RDMA_READ
          && (psn - message.firstPsn & OnChipQp.PSN_MASK) <= 1) {
        return message;
      }
    }
    return null;
  }

  private void sendAgain(ConnectionState connection, Message read) {
    read.sentAgain = true;
    Packet packet = connection.address(port.pool().take());
    packet.sourceQpn = read.qpn;
    packet.psn = read.firstPsn;
    packet.opcode = READ_REQUEST;
    packet.ackRequest = true;
    packet.remoteAddress = read.remoteAddress;
    packet.remoteKey = read.remoteKey;
    packet.dmaLength = (int) read.length;
    counters.packetsSent++;
    port.transmit(packet);
  }

  void reset() {
    storm.reset();
    flood.reset();
    inFlight.clear();
    payloads = 0;
    gathered = 0;
  }
}
