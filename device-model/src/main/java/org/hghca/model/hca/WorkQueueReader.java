package org.hghca.model.hca;

import static org.hghca.model.hca.QueueBytes.MEMORY;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.hghca.abi.AtomicUnit;
import org.hghca.abi.DataUnit;
import org.hghca.abi.Doorbell;
import org.hghca.abi.InlineUnit;
import org.hghca.abi.NextUnit;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.abi.UdUnit;
import org.hghca.abi.WqeOpcode;
import org.hghca.model.transport.ConnectionContext;
import org.hghca.model.transport.MemoryStatus;
import org.hghca.model.transport.ReceiveWork;
import org.hghca.model.transport.SendOperation;
import org.hghca.model.transport.SendWork;
import org.hghca.model.transport.Service;
import org.hghca.model.transport.WorkQueues;
import org.hghca.model.transport.WorkStatus;

/**
 * Reads work queue entries out of the queues' memory: sends at the positions given by doorbells and
 * chains, receives slot by slot. The result is a request, or a request with an error.
 */
final class WorkQueueReader implements WorkQueues {
  private static final int UNIT = 16;
  private static final int MAX_SEND = 255 * UNIT;
  private static final int QPN_MASK = 0xff_ffff;

  private final TranslationTables memory;
  private final QueuePositions.Table positions;
  private final ReceiveWqeReader receives;
  private final SharedReceiveQueues sharedQueues;
  private final LocalGids gids;
  private final QueueBytes bytes = new QueueBytes(MAX_SEND);

  /** Where the send WQE that is read begins. */
  private long base;

  WorkQueueReader(
      TranslationTables memory,
      QueuePositions.Table positions,
      ReceiveWqeReader receives,
      SharedReceiveQueues sharedQueues,
      LocalGids gids) {
    this.memory = memory;
    this.positions = positions;
    this.receives = receives;
    this.sharedQueues = sharedQueues;
    this.gids = gids;
  }

  @Override
  public boolean nextSend(ConnectionContext qp, SendWork into) {
    QueuePositions queue = positions.of(qp.qpn);
    if (queue.sendUnits == 0 && !takeDoorbell(qp, queue)) {
      return false;
    }
    into.clear();
    into.position = queue.sendOffset;
    into.deviceOpcode = queue.sendOpcode;
    into.fence = queue.sendFence;
    into.status = fetch(qp, queue, into);
    return true;
  }

  private boolean takeDoorbell(ConnectionContext qp, QueuePositions queue) {
    if (!queue.hasDoorbell()) {
      return false;
    }
    long doorbell = queue.takeDoorbell();
    queue.sendOffset = Doorbell.headUnits16(doorbell) * UNIT;
    queue.sendUnits = Doorbell.size16(doorbell);
    queue.sendOpcode = Doorbell.opcode(doorbell);
    queue.sendFence = Doorbell.fence(doorbell) != 0;
    // A chain cannot be longer than its queue; a circular one would never end.
    queue.chainLeft = Math.max(1, qp.sendQueueLength / UNIT);
    return true;
  }

  /** Reads the current entry of the queue, and advances to the next one. */
  private WorkStatus fetch(ConnectionContext qp, QueuePositions queue, SendWork into) {
    int units = queue.sendUnits;
    int size = units * UNIT;
    int offset = queue.sendOffset;
    queue.sendUnits = 0;
    if (units == 0 || queue.chainLeft-- == 0 || offset > qp.sendQueueLength - size) {
      return WorkStatus.LOCAL_OPERATION;
    }
    long place = qp.sendQueueOffset + offset;
    if (!memory.reach(queue.sends, qp.sendQueueKey, qp.pd, place, size, bytes)
        && memory.readQueue(qp.sendQueueKey, qp.pd, place, bytes.copy(), 0, size)
            != MemoryStatus.OK) {
      return WorkStatus.QUEUE_UNREADABLE;
    }
    base = bytes.at();
    return read(qp, queue, size, into);
  }

  private WorkStatus read(ConnectionContext qp, QueuePositions queue, int size, SendWork into) {
    long own = NextUnit.own(MEMORY, base);
    long next = NextUnit.next(MEMORY, base);
    into.immediate = NextUnit.immediate(own);
    into.solicited = (NextUnit.flags(own) & NextUnit.SOLICITED) != 0;
    int ownOpcode = NextUnit.opcode(own);
    WorkStatus status =
        ownOpcode != 0 && ownOpcode != queue.sendOpcode
            ? WorkStatus.LOCAL_OPERATION
            : parse(qp, queue.sendOpcode, size, into);
    queue.sendUnits = NextUnit.nextSize16(next);
    queue.sendOffset = NextUnit.nextHeadUnits16(next) * UNIT;
    queue.sendOpcode = NextUnit.nextOpcode(next);
    queue.sendFence = NextUnit.nextFence(next) != 0;
    return status;
  }

  private WorkStatus parse(ConnectionContext qp, int opcode, int size, SendWork into) {
    SendOperation operation = operation(opcode);
    if (operation == null) {
      return WorkStatus.LOCAL_OPERATION;
    }
    into.operation = operation;
    int at = NextUnit.SIZE + addressSize(qp.service, operation);
    if (at > size) {
      return WorkStatus.LOCAL_OPERATION;
    }
    if (operation.usesRemoteMemory()) {
      parseRemoteMemory(operation, into);
    } else if (qp.service == Service.UD) {
      if (!parseDestination(qp, into)) {
        return WorkStatus.LOCAL_OPERATION;
      }
    }
    // Compared so that the compiler does not unroll it: lists are short.
    for (int first = at; at != size; at += DataUnit.SIZE) {
      long lengthAndKey = DataUnit.lengthAndKey(MEMORY, base + at);
      if (DataUnit.isInline((int) lengthAndKey)) {
        return at == first
            ? parseInline(operation, (int) lengthAndKey, at, size, into)
            : WorkStatus.LOCAL_OPERATION;
      }
      if (!into.pieces.add(
          DataUnit.address(MEMORY, base + at),
          DataUnit.lkey(lengthAndKey),
          DataUnit.byteCount(lengthAndKey))) {
        return WorkStatus.LOCAL_OPERATION;
      }
    }
    return WorkStatus.SUCCESS;
  }

  /** Bytes of the units that are between the next unit and the data. */
  private static int addressSize(Service service, SendOperation operation) {
    if (!operation.usesRemoteMemory()) {
      return service == Service.UD ? UdUnit.SIZE : 0;
    }
    return RemoteAddressUnit.SIZE + (operation.isAtomic() ? AtomicUnit.SIZE : 0);
  }

  private void parseRemoteMemory(SendOperation operation, SendWork into) {
    int at = NextUnit.SIZE;
    into.remoteAddress = RemoteAddressUnit.address(MEMORY, base + at);
    into.remoteKey = RemoteAddressUnit.rkey(MEMORY, base + at);
    if (operation.isAtomic()) {
      at += RemoteAddressUnit.SIZE;
      into.swapAdd = AtomicUnit.swapAdd(MEMORY, base + at);
      into.compare = AtomicUnit.compare(MEMORY, base + at);
    }
  }

  /** Returns false for an IPv6 destination from an entry of the GID table that has none. */
  private boolean parseDestination(ConnectionContext qp, SendWork into) {
    int at = NextUnit.SIZE;
    into.destinationMac = UdUnit.destinationMac(MEMORY, base + at);
    into.sourceMac = UdUnit.sourceMac(MEMORY, base + at);
    into.destinationQpn = UdUnit.destinationQpn(MEMORY, base + at) & QPN_MASK;
    into.queueKey = UdUnit.qkey(MEMORY, base + at);
    parsePath(qp, into);
    if (!UdUnit.isIpv6(MEMORY, base + at)) {
      into.path.ipv4(UdUnit.sourceIp(MEMORY, base + at), UdUnit.destinationIp(MEMORY, base + at));
      return true;
    }
    int source = UdUnit.sourceIndex(MEMORY, base + at);
    if (!gids.isIpv6(source)) {
      return false;
    }
    into.path.source(gids.high(source), gids.low(source));
    into.path.destination(
        UdUnit.destinationGidHigh(MEMORY, base + at), UdUnit.destinationGidLow(MEMORY, base + at));
    return true;
  }

  private void parsePath(ConnectionContext qp, SendWork into) {
    int at = NextUnit.SIZE;
    boolean told = UdUnit.hasPath(MEMORY, base + at);
    into.path.service(
        told ? UdUnit.trafficClass(MEMORY, base + at) : 0,
        told ? UdUnit.hopLimit(MEMORY, base + at) : 0);
    int label = told ? UdUnit.flowLabel(MEMORY, base + at) : 0;
    if (told && label == 0 && UdUnit.isPortByNumbers(MEMORY, base + at)) {
      into.path.portOnly(qp.qpn, into.destinationQpn);
    } else {
      into.path.flow(label, qp.qpn, into.destinationQpn);
    }
  }

  private WorkStatus parseInline(
      SendOperation operation, int header, int at, int size, SendWork into) {
    int length = InlineUnit.length(header);
    if (operation.isAnsweredWithData()
        || length > size - at - InlineUnit.HEADER_SIZE
        || length > SendWork.MAX_INLINE) {
      return WorkStatus.LOCAL_OPERATION;
    }
    into.inlineLength = length;
    MemorySegment.copy(MEMORY, base + at + InlineUnit.HEADER_SIZE, into.inline(), 0, length);
    return WorkStatus.SUCCESS;
  }

  private static SendOperation operation(int opcode) {
    return switch (opcode) {
      case WqeOpcode.SEND -> SendOperation.SEND;
      case WqeOpcode.SEND_IMM -> SendOperation.SEND_IMM;
      case WqeOpcode.RDMA_WRITE -> SendOperation.WRITE;
      case WqeOpcode.RDMA_WRITE_IMM -> SendOperation.WRITE_IMM;
      case WqeOpcode.RDMA_READ -> SendOperation.READ;
      case WqeOpcode.ATOMIC_CS -> SendOperation.COMPARE_SWAP;
      case WqeOpcode.ATOMIC_FA -> SendOperation.FETCH_ADD;
      default -> null;
    };
  }

  @Override
  public boolean nextReceive(ConnectionContext qp, ReceiveWork into) {
    if (qp.hasSharedQueue()) {
      return sharedQueues.next(qp, into);
    }
    into.clear();
    int log = qp.receiveSlotLog;
    QueuePositions queue = positions.of(qp.qpn);
    boolean known = queue.slots.isKnown(memory.current(), qp.reading);
    if (!known && qp.receiveQueueLength == 0) {
      return false;
    }
    if (!known && !hasSlots(qp, log)) {
      into.status = WorkStatus.QUEUE_UNREADABLE;
      return true;
    }
    if (queue.receiveOffset > qp.receiveQueueLength - (1 << log)) {
      queue.receiveOffset = 0;
    }
    into.position = queue.receiveOffset;
    // The first unit is written last: it is read separately before the rest.
    if (!known && !loadFirst(qp, queue, log)) {
      into.status = WorkStatus.QUEUE_UNREADABLE;
      return true;
    }
    long slot = known ? queue.slots.at(queue.receiveOffset) : receives.slot().at();
    if (!NextUnit.isPosted(MEMORY, slot)) {
      return false;
    }
    queue.receiveOffset += 1 << log;
    VarHandle.acquireFence(); // what follows is as new as the first unit
    if (known || receives.loadRest(qp.receiveQueueOffset + into.position, log)) {
      ReceiveWqeReader.parse(slot, log, into);
    } else {
      into.status = WorkStatus.QUEUE_UNREADABLE;
    }
    return true;
  }

  private boolean loadFirst(ConnectionContext qp, QueuePositions queue, int log) {
    long place = qp.receiveQueueOffset + queue.receiveOffset;
    boolean loaded = receives.loadFirst(queue.receives, qp.receiveQueueKey, qp.pd, place, log);
    if (receives.isInPlace()) {
      queue.slots.keep(
          queue.receives, qp.receiveQueueOffset, qp.receiveQueueLength, memory.epoch(), qp.reading);
    }
    return loaded;
  }

  private static boolean hasSlots(ConnectionContext qp, int log) {
    return log >= ReceiveWqeReader.MIN_SLOT_LOG
        && log <= ReceiveWqeReader.MAX_SLOT_LOG
        && qp.receiveQueueLength >= 1 << log;
  }
}
