package org.hghca.model.virtio;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Optional;
import org.hghca.model.card.HostMemory;
import org.hghca.model.transport.ConnectionContext;
import org.hghca.model.transport.QueuePairState;
import org.hghca.model.transport.ReceiveWork;
import org.hghca.model.transport.ScatterList;
import org.hghca.model.transport.SendOperation;
import org.hghca.model.transport.SendWork;
import org.hghca.model.transport.Service;
import org.hghca.model.transport.WorkQueues;
import org.hghca.model.transport.WorkStatus;
import org.hghca.virtio.abi.roce.ReceiveRequest;
import org.hghca.virtio.abi.roce.ScatterGather;
import org.hghca.virtio.abi.roce.SendRequest;

/**
 * Reads the elements of send and receive queues. Each is copied once, with what it names; a
 * malformed one is a request with an error. Used in steps of the card.
 */
final class RoceRequests implements WorkQueues {
  private static final ValueLayout.OfInt BIG =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int QPN_MASK = 0xff_ffff;
  private static final int MOST_BYTES = SendRequest.piece(RoceLimits.PIECES);

  private final HostMemory host;
  private final RoceObjects objects;
  private final RoceQueues queues;
  private final long sourceMac;
  private final Chain chain = new Chain(RoceLimits.BUFFERS);
  private final MemorySegment element = Arena.ofAuto().allocate(MOST_BYTES, 64);

  /**
   * @param sourceMac the Ethernet address of the port
   */
  RoceRequests(HostMemory host, RoceObjects objects, RoceQueues queues, long sourceMac) {
    this.host = host;
    this.objects = objects;
    this.queues = queues;
    this.sourceMac = sourceMac;
  }

  @Override
  public boolean nextSend(ConnectionContext qp, SendWork into) {
    RoceWorkQueue queue = queues.sends(qp.qpn);
    Optional<RoceQueuePair> pair = objects.pair(qp.qpn);
    try {
      if (queue == null || pair.isEmpty() || !take(queue)) {
        return false;
      }
      long bytes = copy(SendRequest.SIZE);
      into.clear();
      int flags = SendRequest.SEND_FLAGS.get(element, 0);
      boolean visible = pair.get().signalsAll || (flags & SendRequest.FLAG_SIGNALED) != 0;
      into.position = queue.describe(SendRequest.WR_ID.getLong(element, 0), visible);
      into.status =
          bytes < SendRequest.SIZE
              ? WorkStatus.LOCAL_OPERATION
              : parse(qp, pair.get(), flags, bytes, into);
      return true;
    } catch (QueueException e) {
      queues.broke(e);
      return false;
    }
  }

  /** Takes the next request, or has the driver notify of it. */
  private boolean take(RoceWorkQueue queue) throws QueueException {
    return queue.take(chain) || queue.queue().listen() && queue.take(chain);
  }

  /**
   * Copies the element; returns how many bytes there are.
   *
   * @param head bytes of it whose missing ones are 0
   */
  private long copy(int head) throws QueueException {
    long bytes = Math.min(chain.readableBytes(), MOST_BYTES);
    chain.read(host, 0, element, bytes);
    if (bytes < head) {
      element.asSlice(bytes, head - bytes).fill((byte) 0);
    }
    return bytes;
  }

  private WorkStatus parse(
      ConnectionContext qp, RoceQueuePair pair, int flags, long bytes, SendWork into) {
    Optional<SendOperation> operation = operation(SendRequest.OPCODE.get(element, 0));
    if (operation.isEmpty()) {
      return WorkStatus.LOCAL_OPERATION;
    }
    into.operation = operation.get();
    into.fence = (flags & SendRequest.FLAG_FENCE) != 0;
    into.solicited = (flags & SendRequest.FLAG_SOLICITED) != 0;
    into.immediate = element.get(BIG, SendRequest.IMMEDIATE.offset());
    if (into.operation == SendOperation.READ && !pair.mayRead()) {
      return WorkStatus.LOCAL_OPERATION;
    }
    if (into.operation.usesRemoteMemory()) {
      into.remoteAddress = SendRequest.REMOTE_ADDRESS.getLong(element, 0);
      into.remoteKey = SendRequest.RKEY.get(element, 0);
    } else if (qp.service == Service.UD && !parseDestination(qp, into)) {
      return WorkStatus.LOCAL_OPERATION;
    }
    if ((flags & SendRequest.FLAG_INLINE) != 0) {
      return parseInline(pair, into);
    }
    int count = SendRequest.NUM_SGE.get(element, 0);
    return addPieces(count, pair.sendPieces(), SendRequest.SIZE, bytes, into.pieces);
  }

  private static Optional<SendOperation> operation(int opcode) {
    return switch (opcode) {
      case SendRequest.RDMA_WRITE -> Optional.of(SendOperation.WRITE);
      case SendRequest.RDMA_WRITE_WITH_IMM -> Optional.of(SendOperation.WRITE_IMM);
      case SendRequest.SEND -> Optional.of(SendOperation.SEND);
      case SendRequest.SEND_WITH_IMM -> Optional.of(SendOperation.SEND_IMM);
      case SendRequest.RDMA_READ -> Optional.of(SendOperation.READ);
      default -> Optional.empty();
    };
  }

  /** Returns false for an address handle that does not exist or is of another PD. */
  private boolean parseDestination(ConnectionContext qp, SendWork into) {
    Optional<RoceHandle> handle =
        objects
            .handles
            .get(SendRequest.AH.get(element, 0))
            .filter(known -> known.pdn() == qp.pd)
            .filter(known -> objects.gids.has(known.address().sourceGid()));
    handle.ifPresent(
        known -> {
          into.sourceMac = sourceMac;
          into.destinationMac = known.address().mac();
          into.destinationQpn = SendRequest.REMOTE_QPN.get(element, 0) & QPN_MASK;
          into.queueKey = SendRequest.REMOTE_QKEY.get(element, 0);
          known.address().path(objects.gids, qp.qpn, into.destinationQpn, into.path);
        });
    return handle.isPresent();
  }

  private WorkStatus parseInline(RoceQueuePair pair, SendWork into) {
    int length = SendRequest.INLINE_LENGTH.get(element, 0);
    if (into.operation.isAnsweredWithData() || length > pair.inlineBytes()) {
      return WorkStatus.LOCAL_OPERATION;
    }
    into.inlineLength = length;
    MemorySegment.copy(element, SendRequest.INLINE_DATA.offset(), into.inline(), 0, length);
    return WorkStatus.SUCCESS;
  }

  private WorkStatus addPieces(int count, int most, int at, long bytes, ScatterList into) {
    if (count < 0 || count > most || at + (long) count * ScatterGather.SIZE > bytes) {
      return WorkStatus.LOCAL_OPERATION;
    }
    for (int i = 0; i < count; i++) {
      long piece = at + (long) i * ScatterGather.SIZE;
      int length = ScatterGather.LENGTH.get(element, piece);
      if (length < 0) {
        return WorkStatus.LOCAL_PROTECTION; // longer than any region
      }
      into.add(
          ScatterGather.ADDRESS.getLong(element, piece),
          ScatterGather.LKEY.get(element, piece),
          length);
    }
    return into.total() > RoceLimits.MESSAGE_BYTES ? WorkStatus.LOCAL_LENGTH : WorkStatus.SUCCESS;
  }

  /** Only in ERR is there work with a receive as soon as it is posted. */
  private boolean takeReceive(ConnectionContext qp, RoceWorkQueue queue) throws QueueException {
    return qp.state == QueuePairState.ERR ? take(queue) : queue.take(chain);
  }

  @Override
  public boolean nextReceive(ConnectionContext qp, ReceiveWork into) {
    RoceWorkQueue queue = queues.receives(qp.qpn);
    Optional<RoceQueuePair> pair = objects.pair(qp.qpn);
    try {
      if (queue == null || pair.isEmpty() || !takeReceive(qp, queue)) {
        return false;
      }
      long bytes = copy(ReceiveRequest.SIZE);
      into.clear();
      into.position = queue.describe(ReceiveRequest.WR_ID.getLong(element, 0), true);
      if (qp.state != QueuePairState.ERR) {
        int count = ReceiveRequest.NUM_SGE.get(element, 0);
        into.status =
            bytes < ReceiveRequest.SIZE
                ? WorkStatus.LOCAL_OPERATION
                : addPieces(
                    count, pair.get().receivePieces(), ReceiveRequest.SIZE, bytes, into.pieces);
      }
      return true;
    } catch (QueueException e) {
      queues.broke(e);
      return false;
    }
  }
}
