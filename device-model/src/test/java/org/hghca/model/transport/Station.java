package org.hghca.model.transport;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.MemoryPieces;
import org.hghca.wire.PacketPool;
import org.hghca.wire.PacketRun;

/**
 * A minimal device around a transport: one queue pair, contexts and work queues in Java objects,
 * memory of one key. It shows that the transport needs no card.
 */
final class Station implements ContextStore, WorkQueues, KeyedMemory, CompletionSink, EventSink {
  static final int QPN = 1;
  static final int KEY = 7;

  /** One end of a work request. */
  record Done(
      boolean send,
      int position,
      WorkStatus status,
      int operation,
      int imm,
      long length,
      boolean solicited) {}

  final MemorySegment memory = Arena.ofAuto().allocate(1 << 20);
  final ArrayDeque<Consumer<SendWork>> sends = new ArrayDeque<>();
  final ArrayDeque<Consumer<ReceiveWork>> receives = new ArrayDeque<>();
  final List<Done> done = new ArrayList<>();

  /** Names of events. */
  final List<QueuePairEvent> events = new ArrayList<>();

  final EthernetPort port;
  final Transport transport;

  QueuePairState state = QueuePairState.RTS;
  Migration migration = Migration.MIGRATED;
  boolean remoteAtomic = true;
  int maxReadsServed = 4;
  int nextSendPsn;
  int oldestUnackedPsn;
  int expectedPsn;
  int mtu = 256;
  int ackTimeout = 14;
  int retryCount = 7;
  int rnrRetry = 7;
  int minRnrTimer = 1;
  int maxReads = 4;
  int receiveQueueLength = 64 * 64;
  boolean remoteWrite = true;
  int queueKey = 0x1234;
  int sourceIp;
  int destinationIp;
  boolean memoryGone;
  boolean memoryDenied;
  private final Service service;
  private final long peerMac;

  private final int burst;

  /**
   * A station at a line.
   *
   * @param burst packets that its queue pair may send in a turn; a step may send twice as many
   */
  Station(Service service, long mac, long peerMac, PacketPool pool, int burst) {
    this.service = service;
    this.burst = burst;
    this.peerMac = peerMac;
    port = new EthernetPort(mac, pool);
    transport = new Transport(burst, port, this, this, this, this, this);
    transport.modified(QPN, QueuePairState.RTS);
    port.taker(this::take);
  }

  private boolean take(PacketRun run) {
    transport.time(run.sentAt);
    boolean taken = transport.take(run);
    transport.settle();
    return taken;
  }

  void post(Consumer<SendWork> request) {
    sends.add(request);
    transport.announced(QPN);
  }

  /** A request with one piece of memory, here and at the peer. */
  static Consumer<SendWork> request(
      SendOperation operation, int position, long at, long remote, int length) {
    return request -> {
      request.operation = operation;
      request.position = position;
      request.remoteAddress = remote;
      request.remoteKey = KEY;
      request.pieces.add(at, KEY, length);
    };
  }

  /** Posts a receive with one piece of memory. */
  void receive(int position, long at, int length) {
    receives.add(
        request -> {
          request.position = position;
          request.pieces.add(at, KEY, length);
        });
  }

  boolean step(long now) {
    transport.time(now);
    boolean worked = false;
    while (port.hasArrived()) {
      transport.receive(port.fetch());
      worked = true;
    }
    worked |= transport.run(2 * burst);
    transport.settle();
    return worked;
  }

  @Override
  public boolean load(int qpn, ConnectionContext qp) {
    qp.qpn = qpn;
    qp.service = service;
    qp.state = state;
    qp.remoteQpn = QPN;
    qp.destinationMac = peerMac;
    qp.path.ipv4(sourceIp, destinationIp);
    qp.migration = migration;
    qp.alternatePath.ipv4(sourceIp, destinationIp);
    qp.alternateMac = peerMac;
    qp.alternateAckTimeout = ackTimeout;
    qp.mtu = mtu;
    qp.nextSendPsn = nextSendPsn;
    qp.oldestUnackedPsn = oldestUnackedPsn;
    qp.expectedPsn = expectedPsn;
    qp.ackTimeout = ackTimeout;
    qp.retryCount = retryCount;
    qp.rnrRetry = rnrRetry;
    qp.minRnrTimer = minRnrTimer;
    qp.maxReads = maxReads;
    qp.maxReadsServed = maxReadsServed;
    qp.remoteRead = true;
    qp.remoteWrite = remoteWrite;
    qp.remoteAtomic = remoteAtomic;
    qp.queueKey = queueKey;
    qp.receiveQueueLength = receiveQueueLength;
    qp.receiveSlotLog = 6;
    return true;
  }

  @Override
  public void store(ConnectionContext qp) {
    state = qp.state;
    migration = qp.migration;
    nextSendPsn = qp.nextSendPsn;
    oldestUnackedPsn = qp.oldestUnackedPsn;
    expectedPsn = qp.expectedPsn;
  }

  @Override
  public boolean nextSend(ConnectionContext qp, SendWork into) {
    if (sends.isEmpty()) {
      return false;
    }
    into.clear();
    sends.remove().accept(into);
    return true;
  }

  @Override
  public boolean nextReceive(ConnectionContext qp, ReceiveWork into) {
    if (receives.isEmpty()) {
      return false;
    }
    into.clear();
    receives.remove().accept(into);
    return true;
  }

  @Override
  public MemoryStatus check(int key, int pd, long address, long length, MemoryAccess access) {
    boolean inside = address >= 0 && length <= memory.byteSize() - address;
    return key == KEY && inside && !memoryDenied ? MemoryStatus.OK : MemoryStatus.DENIED;
  }

  @Override
  public boolean locate(
      int key, int pd, long address, MemoryAccess access, int length, MemoryPieces into) {
    boolean located = !memoryGone && check(key, pd, address, length, access) == MemoryStatus.OK;
    if (located) {
      into.add(memory, address, length, MemoryPieces.Kind.STAYS);
    }
    return located;
  }

  @Override
  public MemoryStatus read(
      int key, int pd, long address, MemoryAccess access, MemorySegment to, long at, int length) {
    MemoryStatus status = check(key, pd, address, length, access);
    if (status == MemoryStatus.OK && memoryGone) {
      return MemoryStatus.FAULT;
    }
    if (status == MemoryStatus.OK) {
      MemorySegment.copy(memory, address, to, at, length);
    }
    return status;
  }

  @Override
  public MemoryStatus write(
      int key, int pd, long address, MemoryAccess access, MemorySegment from, long at, int length) {
    MemoryStatus status = check(key, pd, address, length, access);
    if (status == MemoryStatus.OK && memoryGone) {
      return MemoryStatus.FAULT;
    }
    if (status == MemoryStatus.OK) {
      MemorySegment.copy(from, at, memory, address, length);
    }
    return status;
  }

  @Override
  public void sendDone(ConnectionContext qp, SendWork request, WorkStatus status) {
    done.add(new Done(true, request.position, status, 0, 0, request.length(), false));
  }

  @Override
  public void receiveDone(
      ConnectionContext qp,
      ReceiveWork request,
      int operation,
      int immediate,
      long length,
      boolean solicited) {
    done.add(
        new Done(
            false, request.position, WorkStatus.SUCCESS, operation, immediate, length, solicited));
  }

  @Override
  public void receiveFailed(ConnectionContext qp, ReceiveWork request, WorkStatus status) {
    done.add(new Done(false, request.position, status, 0, 0, 0, false));
  }

  @Override
  public void raise(QueuePairEvent event, int qpn) {
    events.add(event);
  }

  List<WorkStatus> statuses() {
    return done.stream().map(Done::status).toList();
  }

  List<Integer> positions() {
    return done.stream().map(Done::position).toList();
  }
}
