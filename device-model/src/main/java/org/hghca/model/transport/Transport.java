package org.hghca.model.transport;

import java.util.Arrays;
import org.hghca.wire.DropCause;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.IpAddress;
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
   * Packets of one queue pair in a row, before the next one gets its turn; {@link Runs#cost} says
   * how those of a run count.
   */
  private static final int BURST = 32;

  /** The same for one whose rate is limited. */
  private static final int LIMITED_BURST = 4;

  /** What a packet has beyond its payload, to the bytes of a rate: headers of every layer. */
  private static final int HEADERS = 62;

  /** The queue pair number that stands for all members of a multicast group. */
  private static final int GROUP = 0xff_ffff;

  /** The queue pair that gets the datagrams of the connection manager. */
  private static final int GENERAL_SERVICES = 1;

  private final int burst;
  private final EthernetPort port;
  private final ContextStore contexts;
  private final EventSink events;
  private final TransportCounters counters;
  private final Schedule schedule;
  private final ErrorStates errors;
  private final TransportParts parts;
  private final CongestionNotifier notifier;
  private final GroupMembers groups = new GroupMembers();

  /** By queue pair number; null where a queue pair is in RESET. */
  private Endpoint[] endpoints = new Endpoint[64];

  /** Whose context is loaded, or null. */
  private Endpoint current;

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
    this.events = events;
    this.parts = new TransportParts(port, queues, memory, completions, events);
    this.counters = parts.counters;
    this.schedule = parts.schedule;
    this.errors = parts.errors;
    this.notifier = new CongestionNotifier(parts.output, counters);
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
      schedule.cancelTimer(endpoint);
      ConnectionContext qp = load(endpoint);
      if (qp != null) {
        errors.flush(endpoint, qp);
      }
    } else if (state == QueuePairState.RTS) {
      schedule.add(endpoint);
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
      events.raise(QueuePairEvent.SEND_QUEUE_DRAINED, endpoint.qpn);
    }
  }

  /**
   * A queue pair has failed in a way that no completion reports: at the next {@link #run} it goes
   * to ERR, if it is not there, and an event reports it, once until it is reset.
   */
  public void workQueueFailed(int qpn) {
    Endpoint endpoint = find(qpn);
    if (endpoint != null) {
      errors.fail(endpoint);
    }
  }

  private boolean endFailed() {
    boolean worked = errors.hasFailed();
    while (errors.hasFailed()) {
      Endpoint endpoint = errors.takeFailed();
      ConnectionContext qp = find(endpoint.qpn) == endpoint ? load(endpoint) : null;
      if (qp != null) {
        errors.end(endpoint, qp);
      }
    }
    return worked;
  }

  /** Makes an endpoint of the service that the context names; returns whether it can be read. */
  private boolean open(int qpn) {
    settle();
    ConnectionContext context = new ConnectionContext();
    boolean readable = contexts.load(qpn, context);
    if (readable) {
      endpoints[qpn] = endpoint(qpn, context.service);
    }
    return readable;
  }

  private Endpoint endpoint(int qpn, Service service) {
    Endpoint endpoint = new Endpoint(qpn, service);
    endpoint.sender =
        service == Service.RC
            ? new Requester(parts, endpoint)
            : new UnreliableSender(parts, endpoint);
    endpoint.receiver =
        switch (service) {
          case RC -> new Responder(parts, endpoint);
          case UC -> new UnreliableReceiver(parts, endpoint);
          case UD -> new DatagramReceiver(parts, endpoint);
        };
    return endpoint;
  }

  /** A queue pair has gone to RESET: its state is cleared. */
  public void reset(int qpn) {
    Endpoint endpoint = find(qpn);
    if (endpoint != null) {
      settle();
      schedule.forget(endpoint);
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
    schedule.clear();
    errors.clear();
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
      errors.flush(endpoint, qp);
    } else if (qp != null && qp.state == QueuePairState.SQE) {
      endpoint.sender.flush(qp);
    } else if (qp != null) {
      schedule.add(endpoint);
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
      endpoint.heardAt = schedule.now();
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
    } else if (endpoint.service != Service.UD && !parts.migrator.takes(endpoint, qp, packet)) {
      counters.drops.count(DropCause.ADDRESS);
    } else if (PacketOpcode.invalidates(operation)) {
      counters.drops.count(DropCause.UNSUPPORTED);
    } else {
      if (CongestionNotifier.isMarked(packet)) {
        notifier.marked(endpoint, qp, packet, schedule.now());
      }
      endpoint.heardAt = schedule.now();
      if (endpoint.qpn == GENERAL_SERVICES) {
        parts.loads.heard(packet.sourceIpHigh, packet.sourceIpLow, schedule.now());
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
      endpoint.rate.notified(schedule.now());
    }
  }

  /** A request has arrived in RTR: the peer has established the connection. */
  private void establish(Endpoint endpoint) {
    if (!endpoint.established && endpoint.service != Service.UD) {
      endpoint.established = true;
      events.raise(QueuePairEvent.COMMUNICATION_ESTABLISHED, endpoint.qpn);
    }
  }

  /** Sets the time: nanoseconds, never less than before. */
  public void time(long nanos) {
    schedule.time(nanos);
  }

  /** Whether {@link #run} has something to do at a time. */
  public boolean isDue(long nanos) {
    return !schedule.isEmpty()
        || schedule.hasHeld()
        || errors.hasFailed()
        || nextDeadline() <= nanos;
  }

  /**
   * Handles expired timers and sends due packets.
   *
   * @param budget maximum number of packets to send, as {@link Runs#cost} counts them
   * @return whether anything was done
   */
  public boolean run(int budget) {
    boolean worked = false;
    for (Timers.Timer due = schedule.takeDueTimer(); due != null; due = schedule.takeDueTimer()) {
      worked = true;
      expired(endpoints[due.qpn]);
    }
    for (Timers.Timer due = schedule.takeDueTurn(); due != null; due = schedule.takeDueTurn()) {
      worked = true;
      schedule.add(endpoints[due.qpn]);
    }
    worked |= endFailed();
    if (!port.sendsSoon()) {
      schedule.release();
    }
    int left = budget;
    while (left > 0 && !schedule.isEmpty() && port.hasRoom()) {
      worked = true;
      Endpoint endpoint = schedule.take();
      ConnectionContext qp = find(endpoint.qpn) == endpoint ? load(endpoint) : null;
      if (qp != null) {
        left -= turn(endpoint, qp, Math.min(left, burst));
      }
    }
    if (schedule.hasHeld()) {
      port.holds();
    }
    return endFailed() || worked;
  }

  private void expired(Endpoint endpoint) {
    ConnectionContext qp = load(endpoint);
    if (qp != null && qp.state == QueuePairState.ERR) {
      errors.flush(endpoint, qp);
    } else if (qp != null) {
      endpoint.sender.timeout(qp);
    }
  }

  private int turn(Endpoint endpoint, ConnectionContext qp, int burst) {
    return endpoint.rate.isLimited()
        ? limitedTurn(endpoint, qp, Math.min(burst, LIMITED_BURST))
        : fullTurn(endpoint, qp, burst);
  }

  private int limitedTurn(Endpoint endpoint, ConnectionContext qp, int burst) {
    long delay = endpoint.rate.delay(schedule.now());
    if (delay == 0) {
      long before = port.bytesSent();
      int sent = fullTurn(endpoint, qp, burst);
      endpoint.rate.sent(port.bytesSent() - before + (long) sent * HEADERS, schedule.now());
      return sent;
    }
    schedule.putOff(endpoint, delay);
    // An acknowledgement does not wait: without it the peer would repeat what it sent.
    return endpoint.receiver.owesData() ? 1 : Math.max(1, endpoint.receiver.respond(qp, 1));
  }

  /** Responds and sends; an acknowledgement that was held follows what it was held for. */
  private int fullTurn(Endpoint endpoint, ConnectionContext qp, int burst) {
    boolean held = endpoint.held;
    int sent = held ? 0 : endpoint.receiver.respond(qp, burst);
    if (qp.state.sends()) {
      sent += endpoint.sender.send(qp, burst - sent);
      reportDrained(endpoint, qp);
    }
    if (held) {
      sent += endpoint.receiver.respond(qp, burst - sent);
      endpoint.held = false;
    }
    if (sent >= burst) {
      schedule.add(endpoint);
    }
    return Math.max(1, sent);
  }

  /** When {@link #run} must be called at the latest, {@code Long.MAX_VALUE} for no such time. */
  public long nextDeadline() {
    return schedule.nextDeadline();
  }

  /**
   * Software may read and change all contexts from now on, and end a connection: what it owes its
   * peer leaves first.
   */
  public void beforeCommand() {
    Endpoint owing = schedule.takeHeld();
    ConnectionContext qp = owing != null && find(owing.qpn) == owing ? load(owing) : null;
    if (qp != null) {
      owing.receiver.respond(qp, 1);
    }
    settle();
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
}
