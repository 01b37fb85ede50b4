package org.hghca.model.transport;

import org.hghca.model.link.Packet;
import org.hghca.model.link.PacketOpcode;

/**
 * The receiving half of a reliable connection: carries out requests in the order of their PSNs and
 * answers them. Acknowledgements are held back until all packets at hand have been looked at, and
 * until the READs before them are answered, so that one stands for many.
 */
final class Responder {
  private static final int NOTHING = -1;

  private final RcTransport transport;
  private final Endpoint endpoint;
  private final ReadJobs reads = new ReadJobs();
  private final ReceiveRequest receive = new ReceiveRequest();

  private enum Message {
    NONE,
    SEND,
    WRITE
  }

  /** The message whose first packets have arrived and whose last one has not. */
  private Message message = Message.NONE;

  /** Whether {@link #receive} holds a work request that is not completed. */
  private boolean holdsReceive;

  /** Bytes of the message that have arrived, and how many an RDMA WRITE has announced. */
  private long arrived;

  private long announced;
  private long writeAddress;
  private int writeKey;

  private int messages;

  /** Set after a NAK until the packet comes that it asks for. */
  private boolean awaitsRepeat;

  /** Syndrome of the answer that is due after the READs, or NOTHING. */
  private int answer = NOTHING;

  private int answerPsn;

  Responder(RcTransport transport, Endpoint endpoint) {
    this.transport = transport;
    this.endpoint = endpoint;
  }

  /** Forgets everything. */
  void reset() {
    reads.clear();
    message = Message.NONE;
    holdsReceive = false;
    messages = 0;
    awaitsRepeat = false;
    answer = NOTHING;
  }

  /** A request of the peer has arrived. */
  void receive(ConnectionContext qp, Packet packet, int operation) {
    int ahead = Psn.compare(packet.psn, qp.expectedPsn);
    if (ahead == 0) {
      awaitsRepeat = false;
      execute(qp, packet, operation);
    } else if (ahead > 0) {
      if (!awaitsRepeat) {
        nak(qp, Aeth.NAK_SEQUENCE);
        awaitsRepeat = true;
      }
    } else {
      transport.counters().duplicates++;
      if (operation == PacketOpcode.READ_REQUEST) {
        repeatRead(qp, packet);
      } else {
        acknowledge();
      }
    }
  }

  private void execute(ConnectionContext qp, Packet packet, int operation) {
    if (!isInSequence(qp, packet, operation)) {
      refuse(qp, Aeth.NAK_INVALID_REQUEST);
    } else if (operation == PacketOpcode.READ_REQUEST) {
      startRead(qp, packet);
    } else if (PacketOpcode.isSend(operation)) {
      executeSend(qp, packet, operation);
    } else {
      executeWrite(qp, packet, operation);
    }
  }

  /** Whether a packet is one that may follow what came before, with a payload of fitting length. */
  private boolean isInSequence(ConnectionContext qp, Packet packet, int operation) {
    if (operation == PacketOpcode.READ_REQUEST) {
      return message == Message.NONE;
    }
    if (!PacketOpcode.isSend(operation) && !PacketOpcode.isWrite(operation)) {
      return false;
    }
    Message goesOn = PacketOpcode.isSend(operation) ? Message.SEND : Message.WRITE;
    boolean starts = PacketOpcode.starts(operation);
    if (message != (starts ? Message.NONE : goesOn)) {
      return false;
    }
    if (!PacketOpcode.ends(operation)) {
      return packet.length == qp.mtu;
    }
    return packet.length <= qp.mtu && (starts || packet.length > 0);
  }

  private void executeSend(ConnectionContext qp, Packet packet, int operation) {
    if (PacketOpcode.starts(operation)) {
      if (!takeReceive(qp)) {
        return;
      }
      arrived = 0;
      message = Message.SEND;
    }
    if (arrived + packet.length > receive.pieces.total()) {
      failReceive(qp, WorkStatus.LOCAL_LENGTH, Aeth.NAK_INVALID_REQUEST);
      return;
    }
    if (packet.length > 0
        && receive.pieces.scatter(
                transport.memory(), qp.pd, arrived, packet.payload(), packet.length)
            != MemoryStatus.OK) {
      failReceive(qp, WorkStatus.LOCAL_PROTECTION, Aeth.NAK_REMOTE_OPERATION);
      return;
    }
    arrived += packet.length;
    accept(qp, packet, operation);
  }

  private void executeWrite(ConnectionContext qp, Packet packet, int operation) {
    if (PacketOpcode.starts(operation)) {
      if (!qp.remoteWrite) {
        refuse(qp, Aeth.NAK_INVALID_REQUEST);
        return;
      }
      writeAddress = packet.remoteAddress;
      writeKey = packet.remoteKey;
      announced = Integer.toUnsignedLong(packet.dmaLength);
      arrived = 0;
      if (announced > 0
          && !allowed(
              qp,
              transport
                  .memory()
                  .check(writeKey, qp.pd, writeAddress, announced, MemoryAccess.REMOTE_WRITE))) {
        return;
      }
    }
    long total = arrived + packet.length;
    if (PacketOpcode.ends(operation) ? total != announced : total >= announced) {
      refuse(qp, Aeth.NAK_INVALID_REQUEST);
      return;
    }
    if (PacketOpcode.hasImmediate(operation) && !takeReceive(qp)) {
      return;
    }
    if (packet.length > 0
        && !allowed(
            qp,
            transport
                .memory()
                .write(
                    writeKey,
                    qp.pd,
                    writeAddress + arrived,
                    MemoryAccess.REMOTE_WRITE,
                    packet.payload(),
                    0,
                    packet.length))) {
      return;
    }
    message = Message.WRITE;
    arrived = total;
    accept(qp, packet, operation);
  }

  /** Takes the next posted receive; without one the peer is told to wait. */
  private boolean takeReceive(ConnectionContext qp) {
    receive.clear();
    if (!transport.queues().nextReceive(qp, receive)) {
      nak(qp, Aeth.RNR_NAK | qp.minRnrTimer);
      awaitsRepeat = true;
      return false;
    }
    holdsReceive = true;
    if (receive.status != WorkStatus.SUCCESS) {
      failReceive(qp, receive.status, Aeth.NAK_REMOTE_OPERATION);
      return false;
    }
    return true;
  }

  /** The packet has been carried out. */
  private void accept(ConnectionContext qp, Packet packet, int operation) {
    advance(qp, 1);
    if (PacketOpcode.ends(operation)) {
      message = Message.NONE;
      messages++;
      if (holdsReceive) {
        holdsReceive = false;
        int immediate = PacketOpcode.hasImmediate(operation) ? packet.immediate : 0;
        transport
            .completions()
            .receiveDone(qp, receive, operation, immediate, arrived, packet.solicited);
      }
    }
    if (packet.ackRequest) {
      acknowledge();
    }
  }

  private void startRead(ConnectionContext qp, Packet packet) {
    if (!qp.remoteRead || qp.mtu == 0 || reads.count() >= qp.maxReadsServed) {
      refuse(qp, Aeth.NAK_INVALID_REQUEST);
      return;
    }
    long length = Integer.toUnsignedLong(packet.dmaLength);
    if (length > 0 && !allowed(qp, checkRead(qp, packet, length))) {
      return;
    }
    int packets = (int) Math.max(1, (length + qp.mtu - 1) / qp.mtu);
    reads.add(packet, length, packets);
    advance(qp, packets);
    messages++;
    transport.schedule(endpoint);
  }

  /** Answers a READ once more; what was still to be sent from there on is sent with it. */
  private void repeatRead(ConnectionContext qp, Packet packet) {
    long length = Integer.toUnsignedLong(packet.dmaLength);
    boolean allowed = length == 0 || checkRead(qp, packet, length) == MemoryStatus.OK;
    if (allowed && qp.remoteRead && qp.mtu != 0) {
      reads.dropFrom(packet.psn, qp.expectedPsn);
      if (reads.count() < ReadJobs.CAPACITY) {
        reads.add(packet, length, (int) Math.max(1, (length + qp.mtu - 1) / qp.mtu));
        transport.schedule(endpoint);
      }
    }
  }

  private MemoryStatus checkRead(ConnectionContext qp, Packet packet, long length) {
    return transport
        .memory()
        .check(packet.remoteKey, qp.pd, packet.remoteAddress, length, MemoryAccess.REMOTE_READ);
  }

  private void advance(ConnectionContext qp, int packets) {
    qp.expectedPsn = Psn.add(qp.expectedPsn, packets);
    qp.setChanged(true);
  }

  private void acknowledge() {
    answer = Aeth.ACK;
    transport.schedule(endpoint);
  }

  private void nak(ConnectionContext qp, int syndrome) {
    if (Aeth.isRnr(syndrome)) {
      transport.counters().rnrNaksSent++;
    } else {
      transport.counters().naksSent++;
    }
    answer = syndrome;
    answerPsn = qp.expectedPsn;
    transport.schedule(endpoint);
  }

  /** Refuses a request for good. */
  private void refuse(ConnectionContext qp, int syndrome) {
    nak(qp, syndrome);
    transport.enterError(endpoint, qp);
    transport.refused(endpoint, syndrome);
  }

  private boolean allowed(ConnectionContext qp, MemoryStatus status) {
    if (status != MemoryStatus.OK) {
      refuse(
          qp, status == MemoryStatus.DENIED ? Aeth.NAK_REMOTE_ACCESS : Aeth.NAK_REMOTE_OPERATION);
    }
    return status == MemoryStatus.OK;
  }

  private void failReceive(ConnectionContext qp, WorkStatus status, int syndrome) {
    holdsReceive = false;
    transport.completions().receiveFailed(qp, receive, status);
    refuse(qp, syndrome);
  }

  /**
   * Sends the answers that are due.
   *
   * @return how many packets went out
   */
  int respond(ConnectionContext qp, int budget) {
    int sent = 0;
    while (sent < budget && reads.count() > 0) {
      sendReadResponse(qp);
      sent++;
    }
    if (answer != NOTHING && reads.count() == 0 && sent < budget) {
      Packet packet = transport.packetTo(qp);
      packet.opcode = PacketOpcode.RC | PacketOpcode.ACKNOWLEDGE;
      packet.syndrome = answer;
      packet.msn = messages & 0xff_ffff;
      packet.psn = answer == Aeth.ACK ? Psn.add(qp.expectedPsn, -1) : answerPsn;
      answer = NOTHING;
      transport.transmit(packet);
      sent++;
    }
    return sent;
  }

  private void sendReadResponse(ConnectionContext qp) {
    Packet packet = transport.packetTo(qp);
    packet.opcode = PacketOpcode.RC | reads.operation();
    packet.psn = reads.psn();
    packet.syndrome = Aeth.ACK;
    packet.msn = messages & 0xff_ffff;
    packet.length = reads.length(qp.mtu);
    MemoryStatus status =
        packet.length == 0
            ? MemoryStatus.OK
            : transport
                .memory()
                .read(
                    reads.key(),
                    qp.pd,
                    reads.address(),
                    MemoryAccess.REMOTE_READ,
                    packet.payload(),
                    0,
                    packet.length);
    if (status == MemoryStatus.OK) {
      reads.advance(packet.length);
      transport.transmit(packet);
      return;
    }
    transport.drop(packet);
    answerPsn = reads.psn();
    answer = status == MemoryStatus.DENIED ? Aeth.NAK_REMOTE_ACCESS : Aeth.NAK_REMOTE_OPERATION;
    reads.clear();
    transport.counters().naksSent++;
    transport.enterError(endpoint, qp);
    transport.refused(endpoint, answer);
  }

  /**
   * Ends every receive that is posted, in order; answers that are due are still given.
   *
   * @return whether more may be posted
   */
  boolean flush(ConnectionContext qp) {
    message = Message.NONE;
    if (holdsReceive) {
      holdsReceive = false;
      transport.completions().receiveFailed(qp, receive, WorkStatus.FLUSHED);
    }
    return transport.flushReceives(qp, receive);
  }

  /** Drops the answers that are due. */
  void silence() {
    reads.clear();
    answer = NOTHING;
  }
}
