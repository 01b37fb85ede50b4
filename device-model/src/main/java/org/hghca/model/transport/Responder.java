package org.hghca.model.transport;

import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketRun;

/**
 * The receiving half of a reliable connection: executes requests in the order of their PSNs and
 * answers them. Acknowledgements are delayed until all available packets have been processed, and
 * until earlier READs and atomics are answered, so that one covers many. An atomic is executed when
 * it arrives: a READ that came before it without a fence may see its result.
 */
final class Responder implements ReceiveSide {
  private static final int NOTHING = -1;

  private final TransportParts parts;
  private final Schedule schedule;
  private final PacketOutput output;
  private final Endpoint endpoint;
  private final WorkQueues queues;
  private final KeyedMemory memory;
  private final CompletionSink completions;
  private final OwedResponses owed = new OwedResponses();
  private final Atomics atomics = new Atomics();
  private final ReceiveWork receive = new ReceiveWork();

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

  /** Set after a NAK until the requested packet arrives. */
  private boolean awaitsRepeat;

  /** Syndrome of the answer that is due after the READs and atomics, or NOTHING. */
  private int answer = NOTHING;

  private int answerPsn;

  /**
   * PSN of the newest SEND or WRITE packet that was executed, up to which an ACK goes: a READ or an
   * atomic is answered by its responses alone. Some requesters complete a READ with an ACK of its
   * PSN, although they have not got its data.
   */
  private int newest = NOTHING;

  Responder(TransportParts parts, Endpoint endpoint) {
    this.parts = parts;
    this.schedule = parts.schedule;
    this.output = parts.output;
    this.endpoint = endpoint;
    this.queues = parts.queues;
    this.memory = parts.memory;
    this.completions = parts.completions;
  }

  @Override
  public void reset() {
    owed.clear();
    atomics.clear();
    message = Message.NONE;
    holdsReceive = false;
    messages = 0;
    awaitsRepeat = false;
    answer = NOTHING;
    newest = NOTHING;
  }

  @Override
  public void receive(ConnectionContext qp, Packet packet, int operation) {
    if (newest == NOTHING) {
      newest = Psn.add(qp.expectedPsn, -1);
    }
    int ahead = Psn.compare(packet.psn, qp.expectedPsn);
    if (ahead == 0) {
      awaitsRepeat = false;
      if (answer != NOTHING) {
        answer = Aeth.ACK; // a pending NAK requests this packet
      }
      execute(qp, packet, operation);
    } else if (ahead > 0) {
      if (!awaitsRepeat) {
        nak(qp, Aeth.NAK_SEQUENCE);
        awaitsRepeat = true;
      }
    } else {
      parts.counters.duplicates++;
      if (operation == PacketOpcode.READ_REQUEST) {
        repeatRead(qp, packet);
      } else if (PacketOpcode.isAtomic(operation)) {
        repeatAtomic(qp, packet);
      } else {
        acknowledge();
      }
    }
  }

  /** Only what a packet would do without any answer but an acknowledgement. */
  @Override
  public boolean take(ConnectionContext qp, PacketRun run) {
    Packet first = run.first;
    int operation = first.opcode & PacketOpcode.OPERATION_MASK;
    boolean isSend = PacketOpcode.isSend(operation);
    boolean starts = PacketOpcode.starts(operation);
    Message next = isSend ? Message.SEND : Message.WRITE;
    if (first.psn != qp.expectedPsn
        || run.mtu != qp.mtu
        || message != (starts ? Message.NONE : next)
        || !(isSend ? placeSend(qp, run, starts) : placeWrite(qp, run, starts))
        || !parts.runs.copy(run)) {
      return false;
    }
    arrived = (starts ? 0 : arrived) + run.bytes;
    awaitsRepeat = false;
    if (answer != NOTHING) {
      answer = Aeth.ACK;
    }
    accept(qp, first, run.packets, run.lastOperation, next);
    return true;
  }

  /** Finds where a run of a SEND belongs; returns false when it is not all right. */
  private boolean placeSend(ConnectionContext qp, PacketRun run, boolean starts) {
    long before = starts ? 0 : arrived;
    return (starts ? takeReceive(qp) : holdsReceive)
        && before + run.bytes <= receive.pieces.total()
        && receive.pieces.locate(
            memory, qp.pd, before, MemoryAccess.LOCAL_WRITE, run.bytes, parts.runs.target());
  }

  /** Finds where a run of an RDMA WRITE belongs; returns false when it is not all right. */
  private boolean placeWrite(ConnectionContext qp, PacketRun run, boolean starts) {
    long before = starts ? 0 : arrived;
    if (starts && !beginsWrite(qp, run.first)) {
      return false;
    }
    long total = before + run.bytes;
    return (PacketOpcode.ends(run.lastOperation) ? total == announced : total < announced)
        && memory.locate(
            writeKey,
            qp.pd,
            writeAddress + before,
            MemoryAccess.REMOTE_WRITE,
            run.bytes,
            parts.runs.target());
  }

  /** Takes address and length of an RDMA WRITE; returns whether all of it may be written. */
  private boolean beginsWrite(ConnectionContext qp, Packet packet) {
    writeAddress = packet.remoteAddress;
    writeKey = packet.remoteKey;
    announced = Integer.toUnsignedLong(packet.dmaLength);
    return qp.remoteWrite
        && announced <= SendWork.MAX_LENGTH
        && memory.check(writeKey, qp.pd, writeAddress, announced, MemoryAccess.REMOTE_WRITE)
            == MemoryStatus.OK;
  }

  private void execute(ConnectionContext qp, Packet packet, int operation) {
    if (!isInSequence(qp, packet, operation)) {
      refuse(qp, Aeth.NAK_INVALID_REQUEST);
    } else if (operation == PacketOpcode.READ_REQUEST) {
      startRead(qp, packet);
    } else if (PacketOpcode.isAtomic(operation)) {
      executeAtomic(qp, packet);
    } else if (PacketOpcode.isSend(operation)) {
      executeSend(qp, packet, operation);
    } else {
      executeWrite(qp, packet, operation);
    }
  }

  /** Whether a packet may follow the previous one, with a valid payload length. */
  private boolean isInSequence(ConnectionContext qp, Packet packet, int operation) {
    if (operation == PacketOpcode.READ_REQUEST) {
      return message == Message.NONE;
    }
    if (PacketOpcode.isAtomic(operation)) {
      return message == Message.NONE && packet.length == 0;
    }
    if (!PacketOpcode.isSend(operation) && !PacketOpcode.isWrite(operation)) {
      return false;
    }
    Message next = PacketOpcode.isSend(operation) ? Message.SEND : Message.WRITE;
    boolean starts = PacketOpcode.starts(operation);
    if (message != (starts ? Message.NONE : next)) {
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
        refuseSend(qp);
        return;
      }
      arrived = 0;
    }
    if (arrived + packet.length > receive.pieces.total()) {
      failReceive(qp, WorkStatus.LOCAL_LENGTH, Aeth.NAK_INVALID_REQUEST);
      return;
    }
    if (packet.length > 0
        && receive.pieces.scatter(memory, qp.pd, arrived, packet.payload(), packet.length)
            != MemoryStatus.OK) {
      failReceive(qp, WorkStatus.LOCAL_PROTECTION, Aeth.NAK_REMOTE_OPERATION);
      return;
    }
    arrived += packet.length;
    accept(qp, packet, 1, operation, Message.SEND);
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
      if (announced > SendWork.MAX_LENGTH) {
        refuse(qp, Aeth.NAK_INVALID_REQUEST);
        return;
      }
      // A message of one packet is checked as a whole when the packet is stored.
      boolean isWhole = announced == packet.length && !PacketOpcode.hasImmediate(operation);
      if (announced > 0
          && !isWhole
          && !allowed(
              qp,
              memory.check(writeKey, qp.pd, writeAddress, announced, MemoryAccess.REMOTE_WRITE))) {
        return;
      }
    }
    long total = arrived + packet.length;
    if (PacketOpcode.ends(operation) ? total != announced : total >= announced) {
      refuse(qp, Aeth.NAK_INVALID_REQUEST);
      return;
    }
    if (PacketOpcode.hasImmediate(operation) && !takeReceive(qp)) {
      refuseSend(qp);
      return;
    }
    if (packet.length > 0
        && !allowed(
            qp,
            memory.write(
                writeKey,
                qp.pd,
                writeAddress + arrived,
                MemoryAccess.REMOTE_WRITE,
                packet.payload(),
                0,
                packet.length))) {
      return;
    }
    arrived = total;
    accept(qp, packet, 1, operation, Message.WRITE);
  }

  /** Takes the next posted receive, unless one is held; returns whether it is all right. */
  private boolean takeReceive(ConnectionContext qp) {
    if (!holdsReceive) { // a run has taken one if it was refused for another reason
      holdsReceive = queues.nextReceive(qp, receive);
    }
    return holdsReceive && receive.status == WorkStatus.SUCCESS;
  }

  /** There is no receive that is all right; without any the peer gets an RNR NAK. */
  private void refuseSend(ConnectionContext qp) {
    if (holdsReceive) {
      failReceive(qp, receive.status, Aeth.NAK_REMOTE_OPERATION);
    } else {
      nak(qp, Aeth.RNR_NAK | qp.minRnrTimer);
      awaitsRepeat = true;
    }
  }

  /**
   * Packets have been executed.
   *
   * @param packet the first one, or the only one
   * @param operation of the last one
   * @param of the message that they are of
   */
  private void accept(ConnectionContext qp, Packet packet, int packets, int operation, Message of) {
    newest = Psn.add(packet.psn, packets - 1);
    advance(qp, packets);
    boolean ends = PacketOpcode.ends(operation);
    Message next = ends ? Message.NONE : of;
    if (message != next) { // most have one packet, and a reference costs more to store
      message = next;
    }
    if (ends) {
      messages++;
      if (holdsReceive) {
        holdsReceive = false;
        receive.remoteQpn = qp.remoteQpn;
        receive.remoteMac = qp.destinationMac;
        int immediate = PacketOpcode.hasImmediate(operation) ? packet.immediate : 0;
        completions.receiveDone(qp, receive, operation, immediate, arrived, packet.solicited);
      }
    }
    if (packet.ackRequest) {
      acknowledge();
    }
  }

  private void startRead(ConnectionContext qp, Packet packet) {
    long length = Integer.toUnsignedLong(packet.dmaLength);
    if (!qp.remoteRead
        || qp.mtu == 0
        || length > SendWork.MAX_LENGTH
        || owed.fresh() >= qp.maxReadsServed) {
      refuse(qp, Aeth.NAK_INVALID_REQUEST);
      return;
    }
    int packets = SendWork.packets(length, qp.mtu);
    if (packets == 1 && answersAtOnce(qp, packet, (int) length)) {
      advance(qp, 1);
      return;
    }
    if (length > 0 && !allowed(qp, checkRead(qp, packet, length))) {
      return;
    }
    owed.addRead(packet, length, packets);
    advance(qp, packets);
    messages++;
    schedule.add(endpoint);
  }

  /**
   * Answers a READ of one packet without waiting for a turn, if nothing else is to be sent and its
   * memory can be read.
   */
  private boolean answersAtOnce(ConnectionContext qp, Packet request, int length) {
    if (!owed.isEmpty() || answer != NOTHING || !output.sendsAtOnce(endpoint)) {
      return false;
    }
    messages++;
    MemoryStatus status =
        sendData(
            qp,
            PacketOpcode.READ_RESPONSE_ONLY,
            request.psn,
            request.remoteKey,
            request.remoteAddress,
            length);
    if (status != MemoryStatus.OK) {
      messages--;
    }
    return status == MemoryStatus.OK;
  }

  /**
   * Answers a READ again. One that is no longer allowed is a late duplicate; one that goes beyond
   * the newest request is none.
   */
  private void repeatRead(ConnectionContext qp, Packet packet) {
    long length = Integer.toUnsignedLong(packet.dmaLength);
    if (!qp.remoteRead || qp.mtu == 0 || length > SendWork.MAX_LENGTH) {
      return;
    }
    int packets = SendWork.packets(length, qp.mtu);
    boolean allowed = length == 0 || checkRead(qp, packet, length) == MemoryStatus.OK;
    if (allowed && packets <= Psn.distance(packet.psn, qp.expectedPsn)) {
      owed.repeatRead(packet, length, packets, qp.expectedPsn);
      schedule.add(endpoint);
    }
  }

  private void executeAtomic(ConnectionContext qp, Packet packet) {
    if (!qp.remoteAtomic
        || packet.remoteAddress % Atomics.SIZE != 0
        || owed.fresh() >= qp.maxReadsServed) {
      refuse(qp, Aeth.NAK_INVALID_REQUEST);
      return;
    }
    if (!allowed(qp, atomics.execute(memory, qp.pd, packet))) {
      return;
    }
    owed.addAtomic(packet);
    advance(qp, 1);
    messages++;
    schedule.add(endpoint);
  }

  /** Answers an atomic again, unless it is so old that the requester cannot wait for it. */
  private void repeatAtomic(ConnectionContext qp, Packet packet) {
    if (atomics.recall(packet, qp.maxReadsServed)) {
      owed.repeatAtomic(packet, qp.expectedPsn);
      schedule.add(endpoint);
    }
  }

  private MemoryStatus checkRead(ConnectionContext qp, Packet packet, long length) {
    return memory.check(
        packet.remoteKey, qp.pd, packet.remoteAddress, length, MemoryAccess.REMOTE_READ);
  }

  private void advance(ConnectionContext qp, int packets) {
    qp.expectedPsn = Psn.add(qp.expectedPsn, packets);
    qp.setChanged(true);
  }

  /** A pending NAK also acknowledges all earlier requests, and must not be lost. */
  private void acknowledge() {
    if (answer == NOTHING) {
      answer = Aeth.ACK;
    }
    schedule.add(endpoint);
  }

  private void nak(ConnectionContext qp, int syndrome) {
    if (Aeth.isRnr(syndrome)) {
      parts.counters.rnrNaksSent++;
    } else {
      parts.counters.naksSent++;
    }
    answer = syndrome;
    answerPsn = qp.expectedPsn;
    schedule.add(endpoint);
  }

  /** Finally refuses a request that no receive completes with. */
  private void refuse(ConnectionContext qp, int syndrome) {
    nak(qp, syndrome);
    parts.errors.enterError(endpoint, qp);
    parts.errors.refused(endpoint, syndrome);
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
    completions.receiveFailed(qp, receive, status);
    nak(qp, syndrome);
    parts.errors.enterError(endpoint, qp);
  }

  @Override
  public int respond(ConnectionContext qp, int budget) {
    int sent = 0;
    while (sent < budget && !owed.isEmpty()) {
      if (answer == Aeth.ACK && Psn.compare(newest, owed.psn()) < 0) {
        sendAnswer(qp);
      } else {
        int run = sendRun(qp, budget - sent);
        if (run > 0) {
          sent += run - 1;
        } else if (owed.isAtomic()) {
          sendOriginal(qp);
        } else {
          sendData(qp);
        }
      }
      sent++;
    }
    boolean due = answer != NOTHING && owed.isEmpty() && sent < budget;
    if (due && !(answer == Aeth.ACK && output.sendsSoon() && schedule.holds(endpoint))) {
      sendAnswer(qp);
      sent++;
    }
    return sent;
  }

  /** Sends the next responses to a READ as a run; returns what it costs, 0 for no run. */
  private int sendRun(ConnectionContext qp, int budget) {
    if (owed.packetsLeft() < 2 || qp.mtu == 0) {
      return 0; // an atomic has one response
    }
    int packets = Math.min(Runs.within(budget, qp.mtu), owed.packetsLeft());
    packets = Math.min(packets, output.longestRun(endpoint, qp));
    if (packets < 2) {
      return 0;
    }
    PacketRun run = parts.runs.ofResponse(qp, owed, packets);
    if (run == null || !output.transmit(run)) {
      return 0;
    }
    owed.advance(packets, run.bytes);
    return Runs.cost(packets, qp.mtu);
  }

  private void sendAnswer(ConnectionContext qp) {
    Packet packet = output.packetTo(qp);
    packet.opcode = PacketOpcode.RC | PacketOpcode.ACKNOWLEDGE;
    packet.syndrome = answer;
    packet.msn = messages & 0xff_ffff;
    packet.psn = answer == Aeth.ACK ? newest : answerPsn;
    answer = NOTHING;
    output.transmit(packet);
  }

  @Override
  public boolean owesData() {
    return !owed.isEmpty();
  }

  private void sendOriginal(ConnectionContext qp) {
    Packet packet = response(qp, PacketOpcode.ATOMIC_ACKNOWLEDGE, owed.psn());
    packet.original = owed.original();
    owed.advance(1, 0);
    output.transmit(packet);
  }

  private Packet response(ConnectionContext qp, int operation, int psn) {
    Packet packet = output.packetTo(qp);
    packet.opcode = PacketOpcode.RC | operation;
    packet.psn = psn;
    packet.syndrome = Aeth.ACK;
    packet.msn = messages & 0xff_ffff;
    return packet;
  }

  /** Sends a response to a READ, if its memory can be read. */
  private MemoryStatus sendData(
      ConnectionContext qp, int operation, int psn, int key, long address, int length) {
    Packet packet = response(qp, operation, psn);
    packet.length = length;
    MemoryStatus status =
        length == 0
            ? MemoryStatus.OK
            : memory.read(
                key, qp.pd, address, MemoryAccess.REMOTE_READ, packet.payload(), 0, length);
    if (status == MemoryStatus.OK) {
      output.transmit(packet);
    } else {
      output.drop(packet);
    }
    return status;
  }

  /** The next response to a READ. */
  private void sendData(ConnectionContext qp) {
    int length = owed.length(qp.mtu);
    MemoryStatus status =
        sendData(qp, owed.operation(), owed.psn(), owed.key(), owed.address(), length);
    if (status == MemoryStatus.OK) {
      owed.advance(1, length);
      return;
    }
    if (owed.isRepeat()) {
      owed.dropFirst();
      return;
    }
    answerPsn = owed.psn();
    answer = status == MemoryStatus.DENIED ? Aeth.NAK_REMOTE_ACCESS : Aeth.NAK_REMOTE_OPERATION;
    owed.clear();
    parts.counters.naksSent++;
    if (qp.state != QueuePairState.ERR) { // otherwise the cause was already reported
      parts.errors.enterError(endpoint, qp);
      parts.errors.refused(endpoint, answer);
    }
  }

  @Override
  public boolean flush(ConnectionContext qp) {
    message = Message.NONE;
    if (holdsReceive) {
      holdsReceive = false;
      completions.receiveFailed(qp, receive, WorkStatus.FLUSHED);
    }
    return parts.requests.flushReceives(qp, receive);
  }

  @Override
  public void silence() {
    owed.clear();
    answer = NOTHING;
  }
}
