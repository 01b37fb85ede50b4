package org.hghca.model.transport;

import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketRun;

/**
 * The sending half of a reliable connection: takes work requests, cuts them into packets, keeps
 * them until they are acknowledged and retransmits lost packets, from the oldest unacknowledged one
 * on.
 */
final class Requester implements SendSide {
  /** Work requests that may be outstanding. */
  private static final int REQUESTS = 128;

  private final TransportParts parts;
  private final Schedule schedule;
  private final PacketOutput output;
  private final Endpoint endpoint;

  /** Whether what is in flight to its peer's address may be too much together. */
  private final boolean sharesLoad;

  private final SendWindow window;
  private final ReadPieces reads;
  private final Turn turn;
  private final EarlyRepeat early;
  private final AckTimer timer;
  private final Retries retries;

  /** Requests from {@code head}, the oldest, to {@code tail}; the next to send is at the cursor. */
  private final SendWork[] ring = new SendWork[REQUESTS];

  private int head;
  private int cursor;
  private int tail;

  /** The packet of the request at the cursor that is sent next. */
  private int cursorPacket;

  private int unackedPsn;

  /** The PSN after the last one ever sent. */
  private int unsentPsn;

  /** Set while the peer requires us to wait for its receive buffers. */
  private boolean waitingForReceiver;

  /** Set while no packet has been sent since the decision to retransmit. */
  private boolean rewound;

  /**
   * Set once a sequence NAK was obeyed, or after an RNR NAK: further sequence NAKs of the same
   * packet are repeats, or answer packets that followed it. Progress and time-outs clear it.
   */
  private boolean nakObeyed;

  Requester(TransportParts parts, Endpoint endpoint) {
    this.parts = parts;
    this.schedule = parts.schedule;
    this.output = parts.output;
    this.endpoint = endpoint;
    this.sharesLoad = parts.port.losesPackets();
    this.window = new SendWindow(parts.port.window(), parts.loads);
    this.reads = new ReadPieces(window);
    this.turn = new Turn(schedule, endpoint);
    this.early = new EarlyRepeat(sharesLoad);
    this.timer = new AckTimer(schedule, parts.port, endpoint, window, early);
    this.retries = new Retries(schedule, endpoint, window, sharesLoad);
  }

  @Override
  public void reset() {
    while (head != tail) {
      parts.requests.recycle(ring[head++ & REQUESTS - 1]);
    }
    head = 0;
    cursor = 0;
    tail = 0;
    cursorPacket = 0;
    reads.clear();
    waitingForReceiver = false;
    rewound = false;
    nakObeyed = false;
    turn.stop();
    window.reset();
    window.leaveLoad();
    early.reset();
  }

  @Override
  public int send(ConnectionContext qp, int budget) {
    int sent = 0;
    while (sent < budget && !waitingForReceiver) {
      boolean draining = qp.state == QueuePairState.SQD;
      if (cursor == tail && (draining || !take(qp))) {
        break;
      }
      SendWork request = ring[cursor & REQUESTS - 1];
      if (draining && !isBegun(request)) {
        break;
      }
      if (request.status == WorkStatus.SUCCESS && !mayGo(qp, request)) {
        break;
      }
      int run = request.status == WorkStatus.SUCCESS ? sendRun(qp, request, budget - sent) : 0;
      if (run > 0) {
        sent += run;
        continue;
      }
      if (request.status == WorkStatus.SUCCESS) {
        sendPacket(qp, request);
      }
      if (request.status != WorkStatus.SUCCESS) {
        if (cursor == head) {
          fail(qp, request.status);
        }
        break;
      }
      sent++;
    }
    if (budget > 0) {
      turn.end();
    }
    return sent;
  }

  /** Takes the next work request of the queue; it gets its PSNs here. */
  private boolean take(ConnectionContext qp) {
    if (tail - head == REQUESTS) {
      return false;
    }
    SendWork request = parts.requests.nextSend(qp);
    if (request == null) {
      return false;
    }
    if (head == tail) {
      if (sharesLoad) {
        window.joinLoad(qp.path.destinationHigh(), qp.path.destinationLow(), parts.port.window());
      }
      unackedPsn = qp.nextSendPsn;
      unsentPsn = qp.nextSendPsn;
      retries.renew(qp);
    }
    if (request.status == WorkStatus.SUCCESS) {
      WorkStatus status =
          qp.mtu == 0
              ? WorkStatus.LOCAL_OPERATION
              : request.check(parts.memory, qp.pd, SendWork.MAX_LENGTH);
      if (status != WorkStatus.SUCCESS) {
        request.status = status;
      }
    }
    request.firstPsn = qp.nextSendPsn;
    if (request.status == WorkStatus.SUCCESS) {
      request.mtu = qp.mtu;
      request.packets = SendWork.packets(request.length(), qp.mtu);
      qp.nextSendPsn = Psn.add(request.firstPsn, request.packets);
      qp.setChanged(true);
      if (qp.nextSendPsn < request.firstPsn) {
        parts.counters.psnWraps++;
      }
    }
    ring[tail++ & REQUESTS - 1] = request;
    cursorPacket = 0;
    return true;
  }

  /** Whether a packet of the request at the cursor has ever been sent. */
  private boolean isBegun(SendWork request) {
    return cursorPacket > 0
        || Psn.distance(unackedPsn, request.firstPsn) < Psn.distance(unackedPsn, unsentPsn);
  }

  @Override
  public boolean isDrained() {
    return head == cursor && (cursor == tail || !isBegun(ring[cursor & REQUESTS - 1]));
  }

  private boolean mayGo(ConnectionContext qp, SendWork request) {
    if (request.fence && cursorPacket == 0 && !reads.isNone()) {
      return false;
    }
    boolean isRead = request.operation.isAnsweredWithData();
    if (isRead && !reads.takes(qp.maxReads)) {
      return false;
    }
    int end = isRead ? reads.end(request, cursorPacket) : cursorPacket + 1;
    if (turn.isHere() || window.takes(request, cursorPacket, end)) {
      return true;
    }
    if (window.isEmpty()) {
      turn.await(window.load(), SendWindow.units(request, cursorPacket, end));
    }
    return false;
  }

  /** Sends packets of the request at the cursor as a run; returns what it costs, 0 for no run. */
  private int sendRun(ConnectionContext qp, SendWork request, int budget) {
    if (request.packets == 1) {
      return 0;
    }
    // The last packet of one with immediate data may meet that no receive is posted.
    int whole = request.packets - (request.operation.hasImmediate() ? 1 : 0);
    int packets = Math.min(whole - cursorPacket, Runs.within(budget, request.mtu));
    if (packets < 2
        || request.operation.isAnsweredWithData()
        || request.inlineLength >= 0
        || window.isReduced()) {
      return 0;
    }
    packets = Math.min(packets, output.longestRun(endpoint, qp));
    packets = packets < 2 ? 0 : Math.min(packets, window.room(request));
    int end = cursorPacket + packets;
    PacketRun run = packets < 2 ? null : parts.runs.ofRequest(qp, request, cursorPacket, end);
    if (run == null) {
      return 0;
    }
    run.first.ackRequest = end == request.packets || window.asks(request, cursorPacket, end);
    if (!output.transmit(run)) {
      return 0;
    }
    window.sentEach(request, cursorPacket, end);
    sent(qp, request, end, run.first.ackRequest);
    return Runs.cost(packets, request.mtu);
  }

  private void sendPacket(ConnectionContext qp, SendWork request) {
    boolean isRead = request.operation.isAnsweredWithData();
    boolean isFirst = cursorPacket == 0;
    int end = isRead ? reads.end(request, cursorPacket) : cursorPacket + 1;
    boolean isLast = end == request.packets;
    Packet packet = output.packetTo(qp);
    packet.opcode = PacketOpcode.RC | request.operation.packetOperation(isFirst, isLast);
    packet.psn = Psn.add(request.firstPsn, cursorPacket);
    packet.solicited = isLast && request.solicited;
    if (isRead) {
      request.ask(packet, cursorPacket, end);
      reads.asked();
    } else if (request.fill(parts.memory, qp.pd, cursorPacket, packet) != MemoryStatus.OK) {
      request.status = WorkStatus.LOCAL_PROTECTION;
      output.drop(packet);
      return;
    }
    // At a limited rate half a window may take longer than the time-out.
    packet.ackRequest =
        window.sent(request, cursorPacket, end, isRead || endpoint.rate.isLimited());
    sent(qp, request, end, packet.ackRequest);
    output.transmit(packet);
  }

  /** The packets of the request at the cursor up to below another are sent. */
  private void sent(ConnectionContext qp, SendWork request, int end, boolean asks) {
    rewound = false;
    int behind = Psn.add(request.firstPsn, end);
    if (unackedPsn == unsentPsn || turn.isHere()) {
      timer.start(qp.ackTimeout);
    }
    turn.end();
    if (Psn.distance(unackedPsn, behind) > Psn.distance(unackedPsn, unsentPsn)) {
      unsentPsn = behind;
      if (asks) {
        early.sent(Psn.add(behind, -1), schedule.now());
      }
    }
    if (end == request.packets) {
      cursor++;
      cursorPacket = 0;
    } else {
      cursorPacket = end;
    }
  }

  @Override
  public void receive(ConnectionContext qp, Packet packet, int operation) {
    boolean beforeOldest = packet.psn == Psn.add(unackedPsn, -1);
    if (head == tail
        || !beforeOldest
            && Psn.distance(unackedPsn, packet.psn) >= Psn.distance(unackedPsn, unsentPsn)) {
      return;
    }
    if (operation != PacketOpcode.ACKNOWLEDGE) {
      if (!beforeOldest) {
        receiveData(qp, packet, operation);
      }
    } else if (Aeth.isAck(packet.syndrome)) {
      if (!beforeOldest && !acknowledge(qp, packet.psn)) {
        gap(qp);
      }
    } else if (Aeth.isReserved(packet.syndrome)) {
      parts.counters.drops.count(DropCause.UNWANTED);
    } else if (!beforeOldest) {
      receiveNak(qp, packet);
    }
    if (qp.state.sends()) {
      schedule.add(endpoint);
    }
  }

  private void receiveNak(ConnectionContext qp, Packet packet) {
    parts.counters.naksReceived++;
    if (!acknowledgeBefore(qp, packet.psn)) {
      return;
    }
    if (Aeth.isRnr(packet.syndrome)) {
      parts.counters.rnrNaksReceived++;
      if (waitingForReceiver) {
        return; // the same once more
      }
      if (!retries.waitForReceiver(qp)) {
        fail(qp, WorkStatus.RECEIVER_NOT_READY);
        return;
      }
      rewind();
      waitingForReceiver = true;
      nakObeyed = true;
      schedule.wakeAfter(endpoint, RnrTimer.nanos(packet.syndrome));
      return;
    }
    switch (packet.syndrome) {
      case Aeth.NAK_SEQUENCE -> obey(qp);
      case Aeth.NAK_REMOTE_ACCESS -> fail(qp, WorkStatus.REMOTE_ACCESS);
      case Aeth.NAK_INVALID_REQUEST -> fail(qp, WorkStatus.REMOTE_INVALID_REQUEST);
      default -> fail(qp, WorkStatus.REMOTE_OPERATION);
    }
  }

  private void obey(ConnectionContext qp) {
    if (!nakObeyed) {
      repeatMissing(qp);
      nakObeyed = !waitingForReceiver;
    }
  }

  /** A response to a READ or an atomic. */
  private void receiveData(ConnectionContext qp, Packet packet, int operation) {
    if (!acknowledgeBefore(qp, packet.psn)) {
      return;
    }
    SendWork request = ring[head & REQUESTS - 1];
    if (!request.operation.isAnsweredWithData()
        || request.operation.isAtomic() != (operation == PacketOpcode.ATOMIC_ACKNOWLEDGE)) {
      fail(qp, WorkStatus.BAD_RESPONSE);
      return;
    }
    if (request.operation.isAtomic()) {
      Atomics.takeOriginal(packet);
    }
    long offset = (long) request.responses * request.mtu;
    boolean isLast = request.responses == request.packets - 1;
    int expected = (int) Math.min(request.mtu, request.length() - offset);
    boolean endsPiece = reads.endsBefore(request, request.responses + 1);
    boolean saysLast =
        operation == PacketOpcode.READ_RESPONSE_LAST
            || operation == PacketOpcode.READ_RESPONSE_ONLY;
    if (packet.length != expected || saysLast && !endsPiece) {
      fail(qp, WorkStatus.BAD_RESPONSE);
      return;
    }
    if (packet.length > 0
        && request.pieces.scatter(parts.memory, qp.pd, offset, packet.payload(), packet.length)
            != MemoryStatus.OK) {
      fail(qp, WorkStatus.LOCAL_PROTECTION);
      return;
    }
    arrived(request, request.responses + 1, endsPiece);
    // As acknowledge() does, which looks for the requests that end.
    window.acknowledged(request, request.responses - 1, request.responses);
    if (isLast) {
      complete(qp, request);
    }
    unackedPsn = Psn.add(unackedPsn, 1);
    progress(qp);
  }

  /** Responses to the oldest request have arrived, so many in all. */
  private void arrived(SendWork request, int responses, boolean endsPiece) {
    request.responses = responses;
    if (endsPiece && (head != cursor || responses <= cursorPacket)) {
      reads.arrived();
    }
  }

  /** Responses to a READ, if they are the next ones and go on as they should. */
  @Override
  public boolean take(ConnectionContext qp, PacketRun run) {
    Packet first = run.first;
    int last = Psn.add(first.psn, run.packets - 1);
    if (head == tail
        || first.psn != unackedPsn
        || Psn.distance(unackedPsn, last) >= Psn.distance(unackedPsn, unsentPsn)
        || window.isReduced()) {
      return false;
    }
    SendWork request = ring[head & REQUESTS - 1];
    if (request.operation != SendOperation.READ || run.mtu != request.mtu) {
      return false;
    }
    long offset = (long) request.responses * request.mtu;
    int end = request.responses + run.packets;
    boolean endsPiece = reads.endsBefore(request, end);
    boolean isInPiece = end <= reads.end(request, request.responses);
    long expected = Math.min((long) run.packets * request.mtu, request.length() - offset);
    if (!isInPiece
        || run.bytes != expected
        || run.lastOperation == PacketOpcode.READ_RESPONSE_LAST && !endsPiece
        || !request.pieces.locate(
            parts.memory, qp.pd, offset, MemoryAccess.LOCAL_WRITE, run.bytes, parts.runs.target())
        || !parts.runs.copy(run)) {
      return false;
    }
    arrived(request, end, endsPiece);
    acknowledge(qp, last);
    schedule.add(endpoint);
    return true;
  }

  /**
   * Marks everything up to a PSN, which was sent and not yet acknowledged, as acknowledged.
   *
   * @return false when a READ or an atomic is in between whose responses are missing
   */
  private boolean acknowledge(ConnectionContext qp, int psn) {
    boolean whole = true;
    int target = Psn.distance(unackedPsn, psn);
    int done = 0;
    while (head != tail && done <= target) {
      SendWork request = ring[head & REQUESTS - 1];
      int from = Psn.distance(request.firstPsn, Psn.add(unackedPsn, done));
      int left = request.packets - from;
      if (request.operation.isAnsweredWithData()) {
        int arrived = request.responses - from;
        if (arrived < left) {
          whole = done + arrived > target;
          done += arrived;
          window.acknowledged(request, from, from + arrived);
          break;
        }
      } else if (done + left > target + 1) {
        window.acknowledged(request, from, from + target + 1 - done);
        done = target + 1;
        break;
      }
      done += left;
      window.acknowledged(request, from, request.packets);
      complete(qp, request);
    }
    if (done > 0) {
      unackedPsn = Psn.add(unackedPsn, done);
      progress(qp);
    }
    return whole;
  }

  /** An answer acknowledges what precedes it; returns whether it is one to the oldest request. */
  private boolean acknowledgeBefore(ConnectionContext qp, int psn) {
    if (psn == unackedPsn) {
      return true;
    }
    if (!acknowledge(qp, Psn.add(psn, -1))) {
      gap(qp);
      return false;
    }
    return head != tail; // software may have changed the PSNs in the context meanwhile
  }

  private void complete(ConnectionContext qp, SendWork request) {
    if (head++ == cursor) {
      cursor = head;
      cursorPacket = 0;
    }
    parts.requests.sendDone(qp, request, WorkStatus.SUCCESS);
  }

  private void progress(ConnectionContext qp) {
    turn.stop(); // it was late, not lost
    early.progress(unackedPsn, schedule.now(), window.load());
    qp.oldestUnackedPsn = unackedPsn;
    qp.setChanged(true);
    retries.renew(qp);
    if (head == cursor && head != tail) {
      SendWork request = ring[head & REQUESTS - 1];
      cursorPacket = Math.max(cursorPacket, Psn.distance(request.firstPsn, unackedPsn));
      if (cursorPacket >= request.packets) {
        cursorPacket = 0;
      }
    }
    waitingForReceiver = false; // it was ready for a duplicate
    nakObeyed = false;
    if (unackedPsn == unsentPsn) {
      schedule.cancelTimer(endpoint);
    } else {
      timer.start(qp.ackTimeout);
    }
  }

  /** A response is missing: its request is repeated, once for each response that is missing. */
  private void gap(ConnectionContext qp) {
    SendWork request = ring[head & REQUESTS - 1];
    if (request.gapAt != request.responses) {
      request.gapAt = request.responses;
      repeatMissing(qp);
    }
  }

  private void repeatMissing(ConnectionContext qp) {
    if (!waitingForReceiver && !rewound) { // else everything is about to be retransmitted
      repeat(qp, retries.repeatMissing(qp));
    }
  }

  private void repeat(ConnectionContext qp, boolean may) {
    if (!may) {
      if (!parts.migrator.migrateArmed(qp)) {
        fail(qp, WorkStatus.RETRIES_EXCEEDED);
        return;
      }
      retries.restart(qp);
      early.reset(); // the other path has other round trips
    }
    window.lost();
    rewind();
    timer.start(qp.ackTimeout);
  }

  private void rewind() {
    turn.stop();
    window.rewound();
    early.rewound();
    parts.counters.retries++;
    rewound = true;
    cursor = head;
    cursorPacket = Psn.distance(ring[head & REQUESTS - 1].firstPsn, unackedPsn);
    reads.clear();
  }

  @Override
  public void timeout(ConnectionContext qp) {
    if (turn.isAwaited()) {
      turn.force();
      return;
    }
    if (head == tail) {
      return;
    }
    if (waitingForReceiver) {
      waitingForReceiver = false;
      timer.start(qp.ackTimeout);
    } else {
      ring[head & REQUESTS - 1].gapAt = -1;
      nakObeyed = false;
      AckTimer.Expiry expiry = timer.expire(qp.ackTimeout);
      if (expiry == AckTimer.Expiry.EARLY) {
        repeatEarly();
      } else if (expiry == AckTimer.Expiry.TIMEOUT) {
        parts.counters.timeouts++;
        window.load().overrun();
        repeat(qp, retries.repeatUnanswered(qp));
      }
    }
    if (qp.state.sends()) {
      schedule.add(endpoint);
    }
  }

  private void repeatEarly() {
    if (!rewound) {
      early.repeated();
      window.lost();
      rewind();
    }
    timer.runOn();
  }

  /** Completes the oldest request with an error, and moves the queue pair to ERR. */
  private void fail(ConnectionContext qp, WorkStatus status) {
    SendWork request = ring[head++ & REQUESTS - 1];
    parts.requests.sendDone(qp, request, status);
    parts.errors.enterError(endpoint, qp);
  }

  @Override
  public void flush(ConnectionContext qp) {
    while (head != tail) {
      SendWork request = ring[head++ & REQUESTS - 1];
      parts.requests.sendDone(qp, request, WorkStatus.FLUSHED);
    }
    reset();
    parts.requests.flushSends(qp);
  }
}
