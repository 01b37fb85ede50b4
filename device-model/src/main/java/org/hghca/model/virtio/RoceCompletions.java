package org.hghca.model.virtio;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.IntConsumer;
import org.hghca.model.card.HostMemory;
import org.hghca.model.transport.CompletionSink;
import org.hghca.model.transport.ConnectionContext;
import org.hghca.model.transport.ReceiveWork;
import org.hghca.model.transport.SendOperation;
import org.hghca.model.transport.SendWork;
import org.hghca.model.transport.Service;
import org.hghca.model.transport.WorkStatus;
import org.hghca.virtio.abi.roce.CompletionEntry;
import org.hghca.virtio.abi.roce.CompletionStatus;
import org.hghca.wire.PacketOpcode;

/**
 * Gives requests that are done back to the driver and writes their completions. A completion queue
 * that has no buffer for one is dead from then on. Used in steps of the card.
 */
final class RoceCompletions implements CompletionSink {
  private final HostMemory host;
  private final RoceObjects objects;
  private final RoceQueues queues;
  private final IntConsumer overrun;
  private final Chain chain = new Chain(RoceLimits.BUFFERS);
  private final MemorySegment entry = Arena.ofAuto().allocate(CompletionEntry.SIZE, 8);
  private long written;

  /**
   * @param overrun gets the number of a completion queue when it dies
   */
  RoceCompletions(HostMemory host, RoceObjects objects, RoceQueues queues, IntConsumer overrun) {
    this.host = host;
    this.objects = objects;
    this.queues = queues;
    this.overrun = overrun;
  }

  /** Completions that were written. */
  long written() {
    return written;
  }

  @Override
  public void sendDone(ConnectionContext qp, SendWork request, WorkStatus status) {
    RoceWorkQueue queue = queues.sends(qp.qpn);
    queues.giveBack(qp.qpn, queue);
    if (status == WorkStatus.SUCCESS && !queue.isSignaled(request.position)) {
      return;
    }
    boolean reads = status == WorkStatus.SUCCESS && request.operation.isAnsweredWithData();
    CompletionEntry.put(
        entry,
        0,
        queue.number(request.position),
        code(status),
        opcode(request.operation),
        reads ? (int) request.length() : 0,
        0,
        qp.qpn,
        0,
        0);
    write(qp.sendCqn, status != WorkStatus.SUCCESS);
  }

  private static int opcode(SendOperation operation) {
    return switch (operation) {
      case WRITE, WRITE_IMM -> CompletionEntry.RDMA_WRITE;
      case READ -> CompletionEntry.RDMA_READ;
      default -> CompletionEntry.SEND;
    };
  }

  @Override
  public void receiveDone(
      ConnectionContext qp,
      ReceiveWork request,
      int operation,
      int immediate,
      long length,
      boolean solicited) {
    int sent = operation & PacketOpcode.OPERATION_MASK;
    int opcode =
        PacketOpcode.isSend(sent) ? CompletionEntry.RECV : CompletionEntry.RECV_RDMA_WITH_IMM;
    boolean hasImmediate = PacketOpcode.hasImmediate(sent);
    boolean isDatagram = qp.service == Service.UD;
    CompletionEntry.put(
        entry,
        0,
        giveBack(qp, request),
        CompletionStatus.SUCCESS,
        opcode,
        (int) length,
        hasImmediate ? immediate : 0,
        qp.qpn,
        isDatagram ? request.remoteQpn : 0,
        (hasImmediate ? CompletionEntry.FLAG_WITH_IMM : 0)
            | (isDatagram ? CompletionEntry.FLAG_GRH : 0));
    write(qp.receiveCqn, solicited);
  }

  @Override
  public void receiveFailed(ConnectionContext qp, ReceiveWork request, WorkStatus status) {
    CompletionEntry.put(
        entry, 0, giveBack(qp, request), code(status), CompletionEntry.RECV, 0, 0, qp.qpn, 0, 0);
    write(qp.receiveCqn, true);
  }

  /** Gives the oldest receive back; returns the driver's number of it. */
  private long giveBack(ConnectionContext qp, ReceiveWork request) {
    RoceWorkQueue queue = queues.receives(qp.qpn);
    queues.giveBack(qp.qpn, queue);
    return queue.number(request.position);
  }

  private void write(int cqn, boolean solicited) {
    Optional<RoceCompletionQueue> queue =
        objects.completions.get(cqn).filter(known -> !known.isDead());
    if (queue.isEmpty()) {
      return;
    }
    SplitQueue ring = queues.completions(cqn);
    try {
      if (ring == null || !ring.take(chain)) {
        queue.get().die();
        overrun.accept(cqn);
        return;
      }
      if (chain.writableBytes() < CompletionEntry.SIZE) {
        throw new QueueException("a buffer for a completion is too small");
      }
      chain.write(host, 0, entry, CompletionEntry.SIZE);
      ring.complete(chain.head(), CompletionEntry.SIZE);
      written++;
      queues.completed(cqn, queue.get().fires(solicited));
    } catch (QueueException e) {
      queues.broke(e);
    }
  }

  private static int code(WorkStatus status) {
    return switch (status) {
      case SUCCESS -> CompletionStatus.SUCCESS;
      case LOCAL_LENGTH -> CompletionStatus.LOC_LEN_ERR;
      case LOCAL_OPERATION, QUEUE_UNREADABLE -> CompletionStatus.LOC_QP_OP_ERR;
      case LOCAL_PROTECTION -> CompletionStatus.LOC_PROT_ERR;
      case FLUSHED -> CompletionStatus.WR_FLUSH_ERR;
      case BAD_RESPONSE -> CompletionStatus.BAD_RESP_ERR;
      case REMOTE_INVALID_REQUEST -> CompletionStatus.REM_INV_REQ_ERR;
      case REMOTE_ACCESS -> CompletionStatus.REM_ACCESS_ERR;
      case REMOTE_OPERATION -> CompletionStatus.REM_OP_ERR;
      case RETRIES_EXCEEDED -> CompletionStatus.RETRY_EXC_ERR;
      case RECEIVER_NOT_READY -> CompletionStatus.RNR_RETRY_EXC_ERR;
    };
  }
}
