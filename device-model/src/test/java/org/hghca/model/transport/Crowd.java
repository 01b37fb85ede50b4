package org.hghca.model.transport;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Medium;
import org.hghca.wire.MemoryPieces;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketPool;

/**
 * A device with many reliable connections to one address, on a medium that loses packets, and that
 * address, which keeps what has come until the test takes it.
 */
final class Crowd
    implements Medium, ContextStore, WorkQueues, KeyedMemory, CompletionSink, EventSink {
  private static final long MAC = 0x0200_0000_0001L;
  private static final long PEER = 0x0200_0000_0002L;
  private static final int OWN_IP = 0x0a00_0001;
  private static final int PEER_IP = 0x0a00_0002;

  /** A packet that has come to the peer. */
  record Came(int qpn, int opcode, int psn, boolean ackRequest, int length, int dmaLength) {}

  /** A request that has ended. */
  record Done(int qpn, WorkStatus status, long at) {}

  static final int MTU = 1024;
  static final int ACK_TIMEOUT = 14;

  final ArrayDeque<Came> kept = new ArrayDeque<>();
  final List<Done> done = new ArrayList<>();
  final Transport transport;
  long now;

  /** What the medium has delivered. */
  long deliveredUntil = Long.MAX_VALUE;

  private final PacketPool pool = new PacketPool();
  private final EthernetPort port = new EthernetPort(MAC, pool);
  private final QueuePairState[] states;
  private final int[] nextPsns;
  private final List<ArrayDeque<Consumer<SendWork>>> posted = new ArrayList<>();

  /** Connections with the numbers from 0. */
  Crowd(int count) {
    states = new QueuePairState[count];
    nextPsns = new int[count];
    port.plug(this);
    transport = new Transport(port, this, this, this, this, this);
    for (int qpn = 0; qpn < count; qpn++) {
      states[qpn] = QueuePairState.RTS;
      posted.add(new ArrayDeque<>());
      transport.modified(qpn, QueuePairState.RTS);
    }
  }

  void post(int qpn, SendOperation operation, int length) {
    posted
        .get(qpn)
        .add(
            request -> {
              request.operation = operation;
              request.remoteKey = 1;
              request.pieces.add(0, 1, length);
            });
    transport.announced(qpn);
  }

  /** The device runs until it needs time to pass. */
  void run() {
    boolean worked = true;
    while (worked) {
      transport.time(now);
      worked = port.hasArrived();
      while (port.hasArrived()) {
        transport.receive(port.fetch());
      }
      worked |= transport.run(256);
      transport.settle();
    }
  }

  /** Time advances to a later moment, past each timer. */
  void advance(long to) {
    while (transport.nextDeadline() <= to) {
      now = Math.max(now, transport.nextDeadline());
      run();
    }
    now = to;
    run();
  }

  /** The peer takes the oldest packet, and acknowledges it if that is wanted, as a responder. */
  Came take() {
    Came came = kept.remove();
    if ((came.opcode & PacketOpcode.OPERATION_MASK) == PacketOpcode.READ_REQUEST) {
      int packets = Math.max(1, (came.dmaLength + MTU - 1) / MTU);
      for (int i = 0; i < packets; i++) {
        boolean last = i == packets - 1;
        int operation =
            i == 0
                ? last ? PacketOpcode.READ_RESPONSE_ONLY : PacketOpcode.READ_RESPONSE_FIRST
                : last ? PacketOpcode.READ_RESPONSE_LAST : PacketOpcode.READ_RESPONSE_MIDDLE;
        answer(came, operation, came.psn + i, last ? came.dmaLength - i * MTU : MTU);
      }
    } else if (came.ackRequest) {
      answer(came, PacketOpcode.ACKNOWLEDGE, came.psn, 0);
    }
    run();
    return came;
  }

  private void answer(Came came, int opcode, int psn, int length) {
    Packet packet = pool.take();
    packet.destinationMac = MAC;
    packet.sourceMac = PEER;
    packet.migrated = false;
    packet.destinationQpn = came.qpn;
    packet.sourceIpHigh = 0;
    packet.sourceIpLow = IpAddress.lowOfIpv4(PEER_IP);
    packet.destinationIpHigh = 0;
    packet.destinationIpLow = IpAddress.lowOfIpv4(OWN_IP);
    packet.opcode = opcode;
    packet.psn = psn;
    packet.syndrome = 0x1f;
    packet.msn = 0;
    packet.length = length;
    port.deliver(packet);
  }

  /** KiB that the peer keeps, READs by their responses. */
  int load() {
    return kept.stream()
        .mapToInt(each -> Math.max(1, (Math.max(each.length, each.dmaLength) + 1023) / 1024))
        .sum();
  }

  @Override
  public boolean isUp() {
    return true;
  }

  @Override
  public boolean losesPackets() {
    return true;
  }

  @Override
  public int window() {
    return 128;
  }

  @Override
  public boolean hasDelivered(long time) {
    return deliveredUntil >= time;
  }

  @Override
  public void carry(EthernetPort from, Packet packet) {
    boolean isRead = (packet.opcode & PacketOpcode.OPERATION_MASK) == PacketOpcode.READ_REQUEST;
    kept.add(
        new Came(
            packet.destinationQpn,
            packet.opcode,
            packet.psn,
            packet.ackRequest,
            packet.length,
            isRead ? packet.dmaLength : 0));
    pool.giveBack(packet);
  }

  @Override
  public boolean load(int qpn, ConnectionContext qp) {
    qp.qpn = qpn;
    qp.service = Service.RC;
    qp.state = states[qpn];
    qp.remoteQpn = qpn;
    qp.destinationMac = PEER;
    qp.sourceMac = MAC;
    qp.path.ipv4(OWN_IP, PEER_IP);
    qp.migration = Migration.MIGRATED;
    qp.mtu = MTU;
    qp.nextSendPsn = nextPsns[qpn];
    qp.ackTimeout = ACK_TIMEOUT;
    qp.retryCount = 7;
    qp.rnrRetry = 7;
    qp.maxReads = 4;
    return true;
  }

  @Override
  public void store(ConnectionContext qp) {
    states[qp.qpn] = qp.state;
    nextPsns[qp.qpn] = qp.nextSendPsn;
  }

  @Override
  public boolean nextSend(ConnectionContext qp, SendWork into) {
    if (posted.get(qp.qpn).isEmpty()) {
      return false;
    }
    into.clear();
    posted.get(qp.qpn).remove().accept(into);
    return true;
  }

  @Override
  public boolean nextReceive(ConnectionContext qp, ReceiveWork into) {
    return false;
  }

  @Override
  public MemoryStatus check(int key, int pd, long address, long length, MemoryAccess access) {
    return MemoryStatus.OK;
  }

  @Override
  public boolean locate(
      int key, int pd, long address, MemoryAccess access, int length, MemoryPieces into) {
    return false;
  }

  @Override
  public MemoryStatus read(
      int key, int pd, long address, MemoryAccess access, MemorySegment to, long at, int length) {
    return MemoryStatus.OK;
  }

  @Override
  public MemoryStatus write(
      int key, int pd, long address, MemoryAccess access, MemorySegment from, long at, int length) {
    return MemoryStatus.OK;
  }

  @Override
  public void sendDone(ConnectionContext qp, SendWork request, WorkStatus status) {
    done.add(new Done(qp.qpn, status, now));
  }

  @Override
  public void receiveDone(
      ConnectionContext qp,
      ReceiveWork request,
      int operation,
      int immediate,
      long length,
      boolean solicited) {
    throw new AssertionError("nothing is received");
  }

  @Override
  public void receiveFailed(ConnectionContext qp, ReceiveWork request, WorkStatus status) {
    throw new AssertionError("nothing is received");
  }

  @Override
  public void raise(QueuePairEvent event, int qpn) {}
}
