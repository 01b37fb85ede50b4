package org.hghca.model.transport;

import java.util.ArrayDeque;
import java.util.Arrays;
import org.hghca.wire.DropCause;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.IpAddress;
import org.hghca.wire.MemoryPieces;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketRun;

/**
 * The queue pairs of one device, of every service: passes packets, work requests and time to the
 * halves of their queue pairs. Used by one thread; time is the value that {@link #time} last
 * received. Contexts are loaded for a run of events of one queue pair and stored back after it;
 * {@link #settle} makes sure that they are stored.
 */
public final class Transport {
  /**
   * Packets of one queue pair in a row, before the next one gets its turn; {@link RunMaker#cost}
   * says how those of a run count.
   */
  private static final int BURST = 32;

  /** The same for one whose rate is limited. */
  private static final int LIMITED_BURST = 4;

  /** What a packet has beyond its payload, to the bytes of a rate: headers of every layer. */
  private static final int HEADERS = 62;

  /**
   * How often a queue pair in error is checked for newly posted receives, in nanoseconds: there is
   * no doorbell for them.
   */
  private static final long FLUSH_INTERVAL = 1_000_000;

  /** The queue pair number that stands for all members of a multicast group. */
  private static final int GROUP = 0xff_ffff;

  private static final SendWork[] NO_REQUESTS = new SendWork[0];

  private final int burst;
  private final EthernetPort port;
  private final ContextStore contexts;
  private final WorkQueues queues;
  private final KeyedMemory memory;
  private final CompletionSink completions;
  private final EventSink events;
  private final TransportCounters counters = new TransportCounters();
  private final Timers timers = new Timers();
  private final PeerLoads loads = new PeerLoads();
  private final CongestionNotifier notifier = new CongestionNotifier(this);

  /** Of the turns that rate limits have put off. */
  private final Timers turns = new Timers();

  private final ArrayDeque<Endpoint> scheduled = new ArrayDeque<>();

  /** Queue pairs that have failed and must go to ERR. */
  private final ArrayDeque<Endpoint> failed = new ArrayDeque<>();

  private final GroupMembers groups = new GroupMembers();
  private final PathMigrator migrator;

  private final PacketRun run = new PacketRun();
  private final RunMaker runs = new RunMaker(this);
  private final MemoryPieces target = new MemoryPieces();

  /** By queue pair number; null where a queue pair is in RESET. */
  private Endpoint[] endpoints = new Endpoint[64];

  private SendWork[] freeRequests = NO_REQUESTS;
  private int freeRequestCount;

  /** Whose context is loaded, or null. */
  private Endpoint current;

  private long now;

  public Transport(
      EthernetPort port,
      ContextStore contexts,
      WorkQueues queues,
      KeyedMemory memory,
      CompletionSink completions,
      EventSink events) {
    this(BURST, port, contexts, queues, memory, completions, events);
  }

  /**
   * As the other one.
   *
   * @param burst packets of one queue pair in a row, before the next one gets its turn
   */
  Transport(
      int burst,
      EthernetPort port,
      ContextStore contexts,
      WorkQueues queues,
      KeyedMemory memory,
      CompletionSink completions,
      EventSink events) {
    this.burst = burst;
    this.port = port;
    this.contexts = contexts;
    this.queues = queues;
    this.memory = memory;
    this.completions = completions;
    this.events = events;
    this.migrator = new PathMigrator(events);
  }

  public TransportCounters counters() {
    return counters;
  }

  /** The queue pairs that take part in multicast groups. */
  public GroupMembers groups() {
    return groups;
  }

  /**
   * The context of a queue pair has left RESET, or was replaced by software.
   *
   * @param state the state it is in now, not RESET
   */
  public void modified(int qpn, QueuePairState state) {
    if (qpn >= endpoints.length) {
      endpoints = Arrays.copyOf(endpoints, Math.max(qpn + 1, 2 * endpoints.length));
    }
    if (endpoints[qpn] == null && !open(qpn)) {
      return;
    }
    Endpoint endpoint = endpoints[qpn];
    endpoint.established &= state != QueuePairState.RTR;
    endpoint.notifiesDrained &= state == QueuePairState.SQD;
    endpoint.migrationRefused = false;
    if (state == QueuePairState.ERR) {
      endpoint.receiver.silence();
      timers.clear(endpoint.timer);
      ConnectionContext qp = load(endpoint);
      if (qp != null) {
        flush(endpoint, qp);
      }
    } else if (state == QueuePairState.RTS) {
      schedule(endpoint);
    }
  }

  /** An event is due as soon as the started requests of a queue pair in SQD have completed. */
  public void notifyDrained(int qpn) {
    Endpoint endpoint = find(qpn);
    ConnectionContext qp = endpoint == null ? null : load(endpoint);
    if (qp != null) {
      endpoint.notifiesDrained = true;
      reportDrained(endpoint, qp);
    }
  }

  private void reportDrained(Endpoint endpoint, ConnectionContext qp) {
    if (endpoint.notifiesDrained && qp.state == QueuePairState.SQD && endpoint.sender.isDrained()) {
      endpoint.notifiesDrained = false;
      events.sendQueueDrained(endpoint.qpn);
    }
  }

  /**
   * A queue pair has failed in a way that no completion reports: at the next {@link #run} it goes
   * to ERR, if it is not there, and an event reports it, once until it is reset.
   */
  public void workQueueFailed(int qpn) {
    Endpoint endpoint = find(qpn);
    if (endpoint != null && !endpoint.failed) {
      endpoint.failed = true;
      failed.add(endpoint);
    }
  }

  private boolean endFailed() {
    boolean worked = !failed.isEmpty();
    while (!failed.isEmpty()) {
      Endpoint endpoint = failed.poll();
      ConnectionContext qp = find(endpoint.qpn) == endpoint ? load(endpoint) : null;
      if (qp != null) {
        enterError(endpoint, qp);
        events.workQueueFailed(endpoint.qpn);
      }
    }
    return worked;
  }

  /** A request of the peer was finally refused, which no local completion reports. */
  void refused(Endpoint endpoint, int syndrome) {
    switch (syndrome) {
      case Aeth.NAK_INVALID_REQUEST -> events.invalidRequest(endpoint.qpn);
      case Aeth.NAK_REMOTE_ACCESS -> events.accessViolation(endpoint.qpn);
      default -> workQueueFailed(endpoint.qpn);
    }
  }

  /** Makes an endpoint of the service that the context names; returns whether it can be read. */
  private boolean open(int qpn) {
    settle();
    ConnectionContext context = new ConnectionContext();
    boolean readable = contexts.load(qpn, context);
    if (readable) {
      endpoints[qpn] = new Endpoint(qpn, context.service, this);
    }
    return readable;
  }

  /** A queue pair has gone to RESET: its state is cleared. */
  public void reset(int qpn) {
    Endpoint endpoint = find(qpn);
    if (endpoint != null) {
      settle();
      timers.clear(endpoint.timer);
      turns.clear(endpoint.turnTimer);
      endpoint.sender.reset();
      endpoint.receiver.reset();
      endpoints[qpn] = null;
    }
  }

  /** All queue pairs have gone to RESET. */
  public void resetAll() {
    current = null;
    for (int qpn = 0; qpn < endpoints.length; qpn++) {
      reset(qpn);
    }
    scheduled.clear();
    failed.clear();
    port.drain();
  }

  /** The state of a queue pair; RESET also for one whose context cannot be read. */
  public QueuePairState state(int qpn) {
    Endpoint endpoint = find(qpn);
    ConnectionContext qp = endpoint == null ? null : load(endpoint);
    return qp == null ? QueuePairState.RESET : qp.state;
  }

  /** Send work requests were announced for a queue pair that sends, or is in ERR or SQE. */
  public void announced(int qpn) {
    Endpoint endpoint = find(qpn);
    ConnectionContext qp = endpoint == null ? null : load(endpoint);
    if (qp != null && qp.state == QueuePairState.ERR) {
      flush(endpoint, qp);
    } else if (qp != null && qp.state == QueuePairState.SQE) {
      endpoint.sender.flush(qp);
    } else if (qp != null) {
      schedule(endpoint);
    }
  }

  /** Processes a packet; it is returned to its pool. */
  public void receive(Packet packet) {
    counters.packetsReceived++;
    if (IpAddress.isGroup(packet.destinationIpHigh, packet.destinationIpLow)) {
      receiveInGroup(packet);
    } else {
      receive(packet.destinationQpn, packet);
    }
    port.pool().giveBack(packet);
  }

  /**
   * Takes a run of packets of a reliable connection, where all is as usual; see {@link
   * org.hghca.wire.RunTaker#take}.
   */
  public boolean take(PacketRun run) {
    Packet first = run.first;
    Endpoint endpoint = find(first.destinationQpn);
    ConnectionContext qp = endpoint == null ? null : load(endpoint);
    if (qp == null
        || endpoint.service != Service.RC
        || qp.migration != Migration.MIGRATED
        || !qp.path.isBack(first)
        || CongestionNotifier.isMarked(first)) {
      return false;
    }
    boolean isResponse = PacketOpcode.isResponse(first.opcode & PacketOpcode.OPERATION_MASK);
    boolean taken =
        isResponse
            ? qp.state.sends() && endpoint.sender.take(qp, run)
            : qp.state.sends() && endpoint.receiver.take(qp, run);
    if (taken) {
      counters.packetsReceived += run.packets;
    }
    if (taken && isResponse) {
      reportDrained(endpoint, qp);
    }
    return taken;
  }

  /** Every queue pair of a group gets a copy, the one that sent it among them. */
  private void receiveInGroup(Packet packet) {
    int[] members =
        packet.destinationQpn == GROUP
            ? groups.of(packet.destinationIpHigh, packet.destinationIpLow)
            : GroupMembers.NONE;
    for (int i = 0; i < members.length; i++) {
      receive(members[i], packet);
    }
    if (members.length == 0) {
      counters.drops.count(DropCause.NO_QUEUE_PAIR);
    }
  }

  private void receive(int qpn, Packet packet) {
    Endpoint endpoint = find(qpn);
    ConnectionContext qp = endpoint == null ? null : load(endpoint);
    if (qp == null) {
      counters.drops.count(DropCause.NO_QUEUE_PAIR);
    } else {
      receive(endpoint, qp, packet);
    }
  }

  private void receive(Endpoint endpoint, ConnectionContext qp, Packet packet) {
    int operation = packet.opcode & PacketOpcode.OPERATION_MASK;
    boolean isResponse = PacketOpcode.isResponse(operation);
    if (packet.opcode == PacketOpcode.CONGESTION_NOTIFICATION) {
      receiveNotification(endpoint, qp, packet);
    } else if ((packet.opcode & PacketOpcode.SERVICE_MASK) != endpoint.service.opcodeBits()) {
      counters.drops.count(DropCause.SERVICE);
    } else if (!(isResponse ? qp.state.sends() : qp.state.receives())) {
      counters.drops.count(DropCause.STATE);
    } else if (endpoint.service != Service.UD && !migrator.takes(endpoint, qp, packet)) {
      counters.drops.count(DropCause.ADDRESS);
    } else if (PacketOpcode.invalidates(operation)) {
      counters.drops.count(DropCause.UNSUPPORTED);
    } else {
      if (CongestionNotifier.isMarked(packet)) {
        notifier.marked(endpoint, qp, packet, now);
      }
      if (isResponse) {
        endpoint.sender.receive(qp, packet, operation);
        reportDrained(endpoint, qp);
      } else {
        if (qp.state == QueuePairState.RTR) {
          establish(endpoint);
        }
        endpoint.receiver.receive(qp, packet, operation);
      }
    }
  }

  /** In RTR, too: the responses to READs are limited. */
  private void receiveNotification(Endpoint endpoint, ConnectionContext qp, Packet packet) {
    if (!qp.state.receives()) {
      counters.drops.count(DropCause.STATE);
    } else if (endpoint.service != Service.UD && !qp.path.isBack(packet)) {
      counters.drops.count(DropCause.ADDRESS);
    } else {
      counters.notificationsReceived++;
      endpoint.rate.notified(now);
    }
  }

  /** A request has arrived in RTR: the peer has established the connection. */
  private void establish(Endpoint endpoint) {
    if (!endpoint.established && endpoint.service != Service.UD) {
      endpoint.established = true;
      events.communicationEstablished(endpoint.qpn);
    }
  }

  /** Sets the time: nanoseconds, never less than before. */
  public void time(long nanos) {
    now = nanos;
  }

  /** Whether {@link #run} has something to do at a time. */
  public boolean isDue(long nanos) {
    return !scheduled.isEmpty() || !failed.isEmpty() || nextDeadline() <= nanos;
  }

  /**
   * Handles expired timers and sends due packets.
   *
   * @param budget maximum number of packets to send, as {@link RunMaker#cost} counts them
   * @return whether anything was done
   */
  public boolean run(int budget) {
    boolean worked = false;
    for (Timers.Timer timer = timers.takeDue(now); timer != null; timer = timers.takeDue(now)) {
      worked = true;
      Endpoint due = timer.endpoint;
      ConnectionContext qp = load(due);
      if (qp != null && qp.state == QueuePairState.ERR) {
        flush(due, qp);
      } else if (qp != null) {
        due.sender.timeout(qp);
      }
    }
    for (Timers.Timer turn = turns.takeDue(now); turn != null; turn = turns.takeDue(now)) {
      worked = true;
      schedule(turn.endpoint);
    }
    worked |= endFailed();
    int left = budget;
    while (left > 0 && !scheduled.isEmpty() && port.hasRoom()) {
      worked = true;
      Endpoint endpoint = scheduled.poll();
      endpoint.scheduled = false;
      ConnectionContext qp = find(endpoint.qpn) == endpoint ? load(endpoint) : null;
      if (qp != null) {
        left -= turn(endpoint, qp, Math.min(left, burst));
      }
    }
    return endFailed() || worked;
  }

  private int turn(Endpoint endpoint, ConnectionContext qp, int burst) {
    return endpoint.rate.isLimited()
        ? limitedTurn(endpoint, qp, Math.min(burst, LIMITED_BURST))
        : fullTurn(endpoint, qp, burst);
  }

  private int limitedTurn(Endpoint endpoint, ConnectionContext qp, int burst) {
    long delay = endpoint.rate.delay(now);
    if (delay == 0) {
      long before = port.bytesSent();
      int sent = fullTurn(endpoint, qp, burst);
      endpoint.rate.sent(port.bytesSent() - before + (long) sent * HEADERS, now);
      return sent;
    }
    turns.set(endpoint.turnTimer, now + delay);
    // An acknowledgement does not wait: without it the peer would repeat what it sent.
    return endpoint.receiver.owesData() ? 1 : Math.max(1, endpoint.receiver.respond(qp, 1));
  }

  private int fullTurn(Endpoint endpoint, ConnectionContext qp, int burst) {
    int sent = endpoint.receiver.respond(qp, burst);
    if (qp.state.sends()) {
      sent += endpoint.sender.send(qp, burst - sent);
      reportDrained(endpoint, qp);
    }
    if (sent >= burst) {
      schedule(endpoint);
    }
    return Math.max(1, sent);
  }

  /** When {@link #run} must be called at the latest, {@code Long.MAX_VALUE} for no such time. */
  public long nextDeadline() {
    return Math.min(timers.next(), turns.next());
  }

  /** Stores back the context that is loaded, so that software may read and change all contexts. */
  public void settle() {
    Endpoint loaded = current;
    current = null;
    if (loaded != null && loaded.context.isChanged()) {
      contexts.store(loaded.context);
    }
  }

  private ConnectionContext load(Endpoint endpoint) {
    if (current == endpoint) {
      return endpoint.context;
    }
    settle();
    endpoint.context.setChanged(false);
    if (!contexts.load(endpoint.qpn, endpoint.context)) {
      return null;
    }
    current = endpoint;
    return endpoint.context;
  }

  private Endpoint find(int qpn) {
    return qpn >= 0 && qpn < endpoints.length ? endpoints[qpn] : null;
  }

  /**
   * Completes all work requests of a queue pair because one of them, or one of its peer's, failed.
   */
  void enterError(Endpoint endpoint, ConnectionContext qp) {
    if (qp.state != QueuePairState.ERR) {
      qp.state = QueuePairState.ERR;
      qp.setChanged(true);
      timers.clear(endpoint.timer);
      flush(endpoint, qp);
    }
  }

  /**
   * Completes all send work requests of a queue pair because one of them failed; receives continue.
   */
  void enterSendError(Endpoint endpoint, ConnectionContext qp) {
    qp.state = QueuePairState.SQE;
    qp.setChanged(true);
    endpoint.sender.flush(qp);
  }

  private void flush(Endpoint endpoint, ConnectionContext qp) {
    endpoint.sender.flush(qp);
    if (endpoint.receiver.flush(qp)) {
      wakeAfter(endpoint, FLUSH_INTERVAL);
    }
    if (qp.hasSharedQueue() && !endpoint.lastReceiveTold) {
      endpoint.lastReceiveTold = true;
      events.lastReceiveReached(endpoint.qpn);
    }
  }

  /** Completes the send work requests that were announced but not started with an error. */
  void flushSends(ConnectionContext qp) {
    SendWork request = takeRequest();
    while (queues.nextSend(qp, request)) {
      completions.sendDone(qp, request, WorkStatus.FLUSHED);
    }
    recycle(request);
  }

  /**
   * Completes the posted receives with an error, at most as many as the queue has slots.
   *
   * @return whether there is a queue in which more may be posted
   */
  boolean flushReceives(ConnectionContext qp, ReceiveWork scratch) {
    if (qp.hasSharedQueue()) {
      return false; // requests posted there are for others
    }
    int slots = qp.receiveQueueLength >>> qp.receiveSlotLog;
    for (int i = 0; i < slots; i++) {
      if (!queues.nextReceive(qp, scratch)) {
        return true;
      }
      if (scratch.status != WorkStatus.SUCCESS) {
        return false;
      }
      completions.receiveFailed(qp, scratch, WorkStatus.FLUSHED);
    }
    return slots > 0;
  }

  void schedule(Endpoint endpoint) {
    if (!endpoint.scheduled) {
      endpoint.scheduled = true;
      scheduled.add(endpoint);
    }
  }

  void wakeAfter(Endpoint endpoint, long nanos) {
    timers.set(endpoint.timer, now + nanos);
  }

  void cancelTimer(Endpoint endpoint) {
    timers.clear(endpoint.timer);
  }

  long now() {
    return now;
  }

  /** Whether packets are lost although nothing is wrong. */
  boolean losesPackets() {
    return port.losesPackets();
  }

  /** Whether every packet that had come by a time is processed; where one is not, it soon is. */
  boolean hasProcessed(long time) {
    return port.hasFetched(time);
  }

  /** KiB that may be in flight to one address. */
  int window() {
    return port.window();
  }

  PeerLoads loads() {
    return loads;
  }

  /** A packet without addresses. */
  Packet packet() {
    return port.pool().take();
  }

  /** Has an armed connection go on by its alternate path; returns whether it was armed. */
  boolean migrate(ConnectionContext qp) {
    boolean armed = qp.migration == Migration.ARMED;
    if (armed) {
      migrator.migrate(qp);
    }
    return armed;
  }

  /** A packet with the addresses of the connection. */
  Packet packetTo(ConnectionContext qp) {
    Packet packet = packet();
    address(packet, qp);
    return packet;
  }

  private static void address(Packet packet, ConnectionContext qp) {
    packet.destinationMac = qp.destinationMac;
    packet.sourceMac = qp.sourceMac;
    qp.path.putInto(packet);
    packet.migrated = qp.migration == Migration.MIGRATED;
    packet.destinationQpn = qp.remoteQpn;
  }

  /** Whether a connection may send a packet now, without a turn. */
  boolean sendsAtOnce(Endpoint endpoint) {
    return !endpoint.rate.isLimited() && port.hasRoom();
  }

  /** Whether runs of packets may be sent over a connection now. */
  boolean sendsRuns(Endpoint endpoint, ConnectionContext qp) {
    return !endpoint.rate.isLimited() && port.sendsRuns(qp.destinationMac);
  }

  RunMaker runs() {
    return runs;
  }

  /** A run with the addresses of the connection; there is one at a time. */
  PacketRun runTo(ConnectionContext qp) {
    run.clear();
    address(run.first, qp);
    run.sentAt = now;
    return run;
  }

  /** Sends a run of packets; returns false when they must be sent one by one. */
  boolean transmit(PacketRun run) {
    boolean taken = port.transmit(run);
    if (taken) {
      counters.packetsSent += run.packets;
    }
    return taken;
  }

  /**
   * Copies the payload of a run to {@link #target}.
   *
   * @return false when that is not possible, and some of it may have been copied
   */
  boolean copy(PacketRun run) {
    try {
      run.payload.copyTo(target);
      return true;
    } catch (IllegalStateException | InternalError e) {
      return false; // memory has gone: a packet will find which
    }
  }

  /** Where the payload of a run that is being taken belongs; empty. */
  MemoryPieces target() {
    target.clear();
    return target;
  }

  void transmit(Packet packet) {
    counters.packetsSent++;
    port.transmit(packet);
  }

  void drop(Packet packet) {
    port.pool().giveBack(packet);
  }

  /** A request for {@link WorkQueues#nextSend}. */
  SendWork takeRequest() {
    return freeRequestCount == 0 ? new SendWork() : freeRequests[--freeRequestCount];
  }

  void recycle(SendWork request) {
    if (freeRequestCount == freeRequests.length) {
      freeRequests = Arrays.copyOf(freeRequests, Math.max(16, 2 * freeRequestCount));
    }
    freeRequests[freeRequestCount++] = request;
  }

  WorkQueues queues() {
    return queues;
  }

  KeyedMemory memory() {
    return memory;
  }

  CompletionSink completions() {
    return completions;
  }
}
