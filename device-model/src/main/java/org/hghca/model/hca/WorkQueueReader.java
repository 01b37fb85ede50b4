package org.hghca.model.hca;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.abi.DataUnit;
import org.hghca.abi.Doorbell;
import org.hghca.abi.InlineUnit;
import org.hghca.abi.NextUnit;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.abi.WqeOpcode;
import org.hghca.model.transport.ConnectionContext;
import org.hghca.model.transport.MemoryStatus;
import org.hghca.model.transport.ReceiveRequest;
import org.hghca.model.transport.SendOperation;
import org.hghca.model.transport.SendRequest;
import org.hghca.model.transport.WorkQueues;
import org.hghca.model.transport.WorkStatus;

/**
 * Reads work queue entries out of the queues' memory: sends where doorbells and chains say,
 * receives slot by slot. Whatever stands there, the answer is a request or a request with an error.
 */
final class WorkQueueReader implements WorkQueues {
  private static final int UNIT = 16;
  private static final int MAX_SEND = 255 * UNIT;
  private static final int MIN_SLOT_LOG = 5;
  private static final int MAX_SLOT_LOG = 12;

  private final TranslationTables memory;
  private final QueuePositions.Table positions;
  private final MemorySegment send = Arena.ofAuto().allocate(MAX_SEND, 64);
  private final MemorySegment slot = Arena.ofAuto().allocate(1 << MAX_SLOT_LOG, 64);

  WorkQueueReader(TranslationTables memory, QueuePositions.Table positions) {
    this.memory = memory;
    this.positions = positions;
  }

  @Override
  public boolean nextSend(ConnectionContext qp, SendRequest into) {
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
    // A chain cannot be longer than its queue; one that leads round in a circle would never end.
    queue.chainLeft = Math.max(1, qp.sendQueueLength / UNIT);
    return true;
  }

  /** Reads the entry that the queue stands at, and moves the queue on to what follows. */
  private WorkStatus fetch(ConnectionContext qp, QueuePositions queue, SendRequest into) {
    int units = queue.sendUnits;
    int size = units * UNIT;
    int offset = queue.sendOffset;
    queue.sendUnits = 0;
    if (units == 0 || queue.chainLeft-- == 0 || offset > qp.sendQueueLength - size) {
      return WorkStatus.LOCAL_OPERATION;
    }
    if (memory.readQueue(qp.sendQueueKey, qp.pd, offset, send, 0, size) != MemoryStatus.OK) {
      return WorkStatus.QUEUE_UNREADABLE;
    }
    into.immediate = NextUnit.immediate(send, 0);
    into.solicited = (NextUnit.flags(send, 0) & NextUnit.SOLICITED) != 0;
    int ownOpcode = NextUnit.opcode(send, 0);
    WorkStatus status =
        ownOpcode != 0 && ownOpcode != queue.sendOpcode
            ? WorkStatus.LOCAL_OPERATION
            : parse(queue.sendOpcode, size, into);
    queue.sendUnits = NextUnit.nextSize16(send, 0);
    queue.sendOffset = NextUnit.nextHeadUnits16(send, 0) * UNIT;
    queue.sendOpcode = NextUnit.nextOpcode(send, 0);
    queue.sendFence = NextUnit.nextFence(send, 0) != 0;
    return status;
  }

  private WorkStatus parse(int opcode, int size, SendRequest into) {
    SendOperation operation = operation(opcode);
    if (operation == null) {
      return WorkStatus.LOCAL_OPERATION;
    }
    into.operation = operation;
    int at = NextUnit.SIZE;
    if (operation.usesRemoteMemory()) {
      if (size < at + RemoteAddressUnit.SIZE) {
        return WorkStatus.LOCAL_OPERATION;
      }
      into.remoteAddress = RemoteAddressUnit.address(send, at);
      into.remoteKey = RemoteAddressUnit.rkey(send, at);
      at += RemoteAddressUnit.SIZE;
    }
    if (at < size && DataUnit.isInline(DataUnit.firstDword(send, at))) {
      return parseInline(operation, at, size, into);
    }
    for (; at < size; at += DataUnit.SIZE) {
      if (DataUnit.isInline(DataUnit.firstDword(send, at))
          || !into.pieces.add(
              DataUnit.address(send, at), DataUnit.lkey(send, at), DataUnit.byteCount(send, at))) {
        return WorkStatus.LOCAL_OPERATION;
      }
    }
    return WorkStatus.SUCCESS;
  }

  private WorkStatus parseInline(SendOperation operation, int at, int size, SendRequest into) {
    int length = InlineUnit.length(send, at);
    if (operation == SendOperation.READ
        || length > size - at - InlineUnit.HEADER_SIZE
        || length > SendRequest.MAX_INLINE) {
      return WorkStatus.LOCAL_OPERATION;
    }
    into.inlineLength = length;
    MemorySegment.copy(send, at + InlineUnit.HEADER_SIZE, into.inline(), 0, length);
    return WorkStatus.SUCCESS;
  }

  private static SendOperation operation(int opcode) {
    return switch (opcode) {
      case WqeOpcode.SEND -> SendOperation.SEND;
      case WqeOpcode.SEND_IMM -> SendOperation.SEND_IMM;
      case WqeOpcode.RDMA_WRITE -> SendOperation.WRITE;
      case WqeOpcode.RDMA_WRITE_IMM -> SendOperation.WRITE_IMM;
      case WqeOpcode.RDMA_READ -> SendOperation.READ;
      default -> null;
    };
  }

  @Override
  public boolean nextReceive(ConnectionContext qp, ReceiveRequest into) {
    QueuePositions queue = positions.of(qp.qpn);
    int log = qp.receiveSlotLog;
    into.clear();
    if (qp.receiveQueueLength == 0) {
      return false;
    }
    if (log < MIN_SLOT_LOG || log > MAX_SLOT_LOG || qp.receiveQueueLength < 1 << log) {
      into.status = WorkStatus.QUEUE_UNREADABLE;
      return true;
    }
    if (queue.receiveOffset > qp.receiveQueueLength - (1 << log)) {
      queue.receiveOffset = 0;
    }
    int offset = queue.receiveOffset;
    into.position = offset;
    // The first unit is written last: it is looked at by a read of its own before the rest.
    if (!readSlot(qp, offset, 0, NextUnit.SIZE)) {
      into.status = WorkStatus.QUEUE_UNREADABLE;
      return true;
    }
    if (!NextUnit.isPosted(slot, 0)) {
      return false;
    }
    queue.receiveOffset = offset + (1 << log);
    if (!readSlot(qp, offset, NextUnit.SIZE, (1 << log) - NextUnit.SIZE)) {
      into.status = WorkStatus.QUEUE_UNREADABLE;
      return true;
    }
    for (int at = NextUnit.SIZE; at < 1 << log; at += DataUnit.SIZE) {
      if (DataUnit.isTerminator(slot, at)) {
        break;
      }
      if (DataUnit.isInline(DataUnit.firstDword(slot, at))
          || !into.pieces.add(
              DataUnit.address(slot, at), DataUnit.lkey(slot, at), DataUnit.byteCount(slot, at))) {
        into.status = WorkStatus.LOCAL_OPERATION;
        break;
      }
    }
    return true;
  }

  private boolean readSlot(ConnectionContext qp, int offset, int at, int size) {
    return memory.readQueue(qp.receiveQueueKey, qp.pd, offset + at, slot, at, size)
        == MemoryStatus.OK;
  }
}
