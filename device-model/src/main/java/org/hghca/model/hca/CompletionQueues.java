package org.hghca.model.hca;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.Cqe;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.ResizeCq;
import org.hghca.abi.Syndrome;
import org.hghca.model.transport.CompletionSink;
import org.hghca.model.transport.ConnectionContext;
import org.hghca.model.transport.MemoryStatus;
import org.hghca.model.transport.ReceiveRequest;
import org.hghca.model.transport.SendRequest;
import org.hghca.model.transport.WorkStatus;

/**
 * Writes completion queue entries. The contexts stand in interconnect context memory; on the chip
 * are only the positions where the next entries go, which begin at 0 when a queue is handed over.
 * The card never looks at an entry's owner: a queue that is too small is overwritten.
 */
final class CompletionQueues implements CompletionSink {
  private static final int CONTEXT_SIZE = CompletionQueueContext.LAYOUT.size();

  private final HostMemory host;
  private final Icm icm;
  private final TranslationTables memory;
  private final Faults faults;
  private final int owner;
  private final int maxLogSize;
  private final BitSet owned = new BitSet();
  private int[] positions = new int[64];
  private final MemorySegment context = Arena.ofAuto().allocate(CONTEXT_SIZE, 64);
  private final MemorySegment entry = Arena.ofAuto().allocate(Cqe.SIZE, 64);
  private long written;

  CompletionQueues(
      HostMemory host,
      Icm icm,
      TranslationTables memory,
      Faults faults,
      HardwareProfile profile,
      int maxLogSize) {
    this.host = host;
    this.icm = icm;
    this.memory = memory;
    this.faults = faults;
    this.owner = profile.cqeOwner();
    this.maxLogSize = maxLogSize;
  }

  /** Forgets which queues are the card's. */
  void reset() {
    owned.clear();
  }

  /** How many entries were written. */
  long written() {
    return written;
  }

  /**
   * SW2HW_CQ: takes a queue over from software.
   *
   * @return false when number or size is wrong, it is the card's already, or its place in ICM
   *     cannot be reached
   */
  boolean take(int cqn, MemorySegment mailbox) {
    long at = icm.completionQueue(cqn);
    if (at == Icm.NONE
        || owned.get(cqn)
        || CompletionQueueContext.LOG_SIZE.get(mailbox) > maxLogSize
        || !host.write(at, mailbox, 0, CONTEXT_SIZE)) {
      return false;
    }
    owned.set(cqn);
    if (cqn >= positions.length) {
      positions = java.util.Arrays.copyOf(positions, Math.max(cqn + 1, 2 * positions.length));
    }
    positions[cqn] = 0;
    return true;
  }

  /**
   * HW2SW_CQ: gives a queue back to software.
   *
   * @return false when it is not the card's
   */
  boolean release(int cqn) {
    boolean held = cqn >= 0 && owned.get(cqn);
    if (held) {
      owned.clear(cqn);
    }
    return held;
  }

  /**
   * RESIZE_CQ: goes on in other memory, from its beginning.
   *
   * @return false when number or size is wrong or the queue's place in ICM cannot be reached
   */
  boolean resize(int cqn, MemorySegment mailbox) {
    int logSize = ResizeCq.LOG_SIZE.get(mailbox);
    if (logSize > maxLogSize || !load(cqn)) {
      return false;
    }
    CompletionQueueContext.LOG_SIZE.set(context, logSize);
    CompletionQueueContext.LKEY.set(context, ResizeCq.LKEY.get(mailbox));
    positions[cqn] = 0;
    return host.write(icm.completionQueue(cqn), context, 0, CONTEXT_SIZE);
  }

  @Override
  public void sendDone(ConnectionContext qp, SendRequest request, WorkStatus status) {
    if (status == WorkStatus.SUCCESS) {
      Cqe.encodeSuccess(
          entry,
          0,
          qp.qpn,
          qp.remoteQpn,
          (int) qp.destinationMac & 0xffff,
          0,
          (int) request.length(),
          request.position,
          true,
          request.deviceOpcode,
          owner);
    } else {
      Cqe.encodeError(entry, 0, qp.qpn, request.position, syndrome(status), 0, true, owner);
    }
    write(qp.sendCqn);
  }

  @Override
  public void receiveDone(
      ConnectionContext qp,
      ReceiveRequest request,
      int operation,
      int immediate,
      long length,
      boolean solicited) {
    Cqe.encodeSuccess(
        entry,
        0,
        qp.qpn,
        request.remoteQpn,
        (int) request.remoteMac & 0xffff,
        immediate,
        (int) length,
        request.position,
        false,
        operation,
        owner);
    write(qp.receiveCqn);
  }

  @Override
  public void receiveFailed(ConnectionContext qp, ReceiveRequest request, WorkStatus status) {
    Cqe.encodeError(entry, 0, qp.qpn, request.position, syndrome(status), 0, false, owner);
    write(qp.receiveCqn);
  }

  private void write(int cqn) {
    if (!load(cqn)) {
      faults.record("a completion for CQ %d is lost: there is no such CQ".formatted(cqn));
      return;
    }
    int at = positions[cqn];
    int last = (1 << CompletionQueueContext.LOG_SIZE.get(context)) - 1;
    MemoryStatus status =
        memory.writeQueue(
            CompletionQueueContext.LKEY.get(context),
            CompletionQueueContext.PD.get(context),
            (long) at * Cqe.SIZE,
            entry,
            Cqe.SIZE);
    if (status == MemoryStatus.OK) {
      written++;
    } else {
      faults.record(
          "a completion for CQ %d is lost: entry %d of its memory cannot be written (%s)"
              .formatted(cqn, at, status));
    }
    positions[cqn] = at + 1 & last;
  }

  /** Loads the context of a queue; returns whether the queue is the card's. */
  private boolean load(int cqn) {
    long at = cqn >= 0 && owned.get(cqn) ? icm.completionQueue(cqn) : Icm.NONE;
    return at != Icm.NONE && host.read(at, context, 0, CONTEXT_SIZE);
  }

  private static int syndrome(WorkStatus status) {
    Syndrome syndrome =
        switch (status) {
          case SUCCESS -> Syndrome.UNKNOWN;
          case LOCAL_LENGTH -> Syndrome.LOCAL_LENGTH_ERR;
          case LOCAL_OPERATION -> Syndrome.LOCAL_QP_OP_ERR;
          case LOCAL_PROTECTION -> Syndrome.LOCAL_PROT_ERR;
          case FLUSHED -> Syndrome.WR_FLUSH_ERR;
          case BAD_RESPONSE -> Syndrome.BAD_RESP_ERR;
          case REMOTE_INVALID_REQUEST -> Syndrome.REMOTE_INVAL_REQ_ERR;
          case REMOTE_ACCESS -> Syndrome.REMOTE_ACCESS_ERR;
          case REMOTE_OPERATION -> Syndrome.REMOTE_OP_ERR;
          case RETRIES_EXCEEDED -> Syndrome.RETRY_EXC_ERR;
          case RECEIVER_NOT_READY -> Syndrome.RNR_RETRY_EXC_ERR;
        };
    return syndrome.code();
  }
}
