package org.hghca.model.hca;

import static org.hghca.model.hca.QueueBytes.MEMORY;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntConsumer;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.Cqe;
import org.hghca.abi.Doorbell;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.ResizeCq;
import org.hghca.abi.Syndrome;
import org.hghca.model.card.Faults;
import org.hghca.model.card.HostMemory;
import org.hghca.model.transport.CompletionSink;
import org.hghca.model.transport.ConnectionContext;
import org.hghca.model.transport.MemoryStatus;
import org.hghca.model.transport.ReceiveWork;
import org.hghca.model.transport.SendWork;
import org.hghca.model.transport.WorkStatus;

/**
 * Writes completion queue entries. The contexts are in interconnect context memory; on the chip are
 * only the positions of the next entries, which start at 0 when a queue is handed over, and the arm
 * state. Before the card writes an entry, it reads its owner byte: bit 7 clear means that software
 * has not consumed the entry. A queue that is overrun, or whose memory is inaccessible, is in error
 * until software takes it back; its completions are lost, and their queue pairs fail.
 */
final class CompletionQueues implements CompletionSink {
  private static final int CONTEXT_SIZE = CompletionQueueContext.LAYOUT.size();

  /** The arm states of a queue; the greater value takes precedence. */
  private static final int NOT_ARMED = 0;

  private static final int SOLICITED = 1;
  private static final int NEXT = 2;

  /** The card does not own the queue: it cannot be armed. */
  private static final int NO_QUEUE = 3;

  private static final int NO_QUEUE_WRITTEN = -1;

  /** A queue: the position of its next entry, and what its context says. */
  private static final class Queue {
    final int cqn;
    int position;

    /** It is in error. */
    boolean failed;

    final QueueMemory memory = new QueueMemory();

    /** Its entries, which may be written there. */
    final PlacedRing entries = new PlacedRing();

    /** The number of its memories so far. */
    int resizes;

    /** Of what follows, {@link TableEntries#epoch}; NEVER before the context is read. */
    long epoch = Region.NEVER;

    int key;
    int pd;

    /** Where it begins in its region, in bytes. */
    long start;

    int logSize;
    int eqn;

    Queue(int cqn) {
      this.cqn = cqn;
    }
  }

  private final HostMemory host;
  private final Icm icm;
  private final TranslationTables memory;
  private final Faults faults;
  private final EventRouting events;
  private final IntConsumer workQueueFailed;
  private final int ownerByte;
  private final int maxLogSize;

  /** Of those with entries of this step; a solicited one among them. */
  private final BitSet recent = new BitSet();

  private final BitSet recentSolicited = new BitSet();

  /** The queue of the last entry of this step, which is noted, or NO_QUEUE_WRITTEN. */
  private int lastWritten = NO_QUEUE_WRITTEN;

  /** By number; null for those that the card does not own. */
  private Queue[] queues = new Queue[64];

  /**
   * The arm state of the queues. A store to the arm register takes effect here at once, on the
   * storing thread, and the arm state is checked at the end of a step that has written entries: so
   * a program that arms a queue and then finds it empty gets an event for every later entry.
   */
  private final AtomicIntegerArray arms = new AtomicIntegerArray(CardLimits.ALL.maxCqs());

  private final TableEntries contexts;

  /** The queue that was loaded last, if the card still owns it. */
  private Queue queue;

  private final MemorySegment resized = Arena.ofAuto().allocate(CONTEXT_SIZE, 64);

  /** Where the next entry is encoded: where software reads it if possible, else in the copy. */
  private final QueueBytes entry = new QueueBytes(Cqe.SIZE);

  /** Whether it is encoded where software reads it. */
  private boolean inPlace;

  private final MemorySegment owner = Arena.ofAuto().allocate(1);
  private long written;

  /**
   * @param workQueueFailed takes the number of a queue pair that no completion can report
   */
  CompletionQueues(
      HostMemory host,
      Icm icm,
      TranslationTables memory,
      Faults faults,
      EventRouting events,
      IntConsumer workQueueFailed,
      HardwareProfile profile,
      int maxLogSize) {
    this.host = host;
    this.icm = icm;
    this.memory = memory;
    this.faults = faults;
    this.events = events;
    this.workQueueFailed = workQueueFailed;
    this.ownerByte = profile.cqeOwner();
    this.maxLogSize = maxLogSize;
    this.contexts = new TableEntries(host, cqn -> icm.completionQueue((int) cqn), CONTEXT_SIZE);
    disownAll();
  }

  /** Clears the ownership of all queues. */
  void reset() {
    Arrays.fill(queues, null);
    queue = null;
    recent.clear();
    recentSolicited.clear();
    lastWritten = NO_QUEUE_WRITTEN;
    disownAll();
  }

  private void disownAll() {
    for (int cqn = 0; cqn < arms.length(); cqn++) {
      arms.set(cqn, NO_QUEUE);
    }
  }

  /** Number of entries written. */
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
        || find(cqn) != null
        || CompletionQueueContext.LOG_SIZE.get(mailbox) > maxLogSize
        || !host.writeTable(at, mailbox, CONTEXT_SIZE)) {
      return false;
    }
    if (cqn >= queues.length) {
      queues = Arrays.copyOf(queues, Math.max(cqn + 1, 2 * queues.length));
    }
    queues[cqn] = new Queue(cqn);
    boolean armed = (CompletionQueueContext.FLAGS.get(mailbox) & CompletionQueueContext.ARMED) != 0;
    arms.set(cqn, armed ? NEXT : NOT_ARMED);
    return true;
  }

  /**
   * HW2SW_CQ: gives a queue back to software.
   *
   * @return false when it is not the card's
   */
  boolean release(int cqn) {
    boolean held = find(cqn) != null;
    if (held) {
      queues[cqn] = null;
      queue = null;
      forgetEntries(cqn); // an event would be that of the next queue with this number
      arms.set(cqn, NO_QUEUE);
    }
    return held;
  }

  /**
   * RESIZE_CQ: continues in other memory, from its beginning.
   *
   * @return false when number or size is wrong or the queue's place in ICM cannot be reached
   */
  boolean resize(int cqn, MemorySegment mailbox) {
    int logSize = ResizeCq.LOG_SIZE.get(mailbox);
    MemorySegment context = logSize <= maxLogSize && find(cqn) != null ? contexts.read(cqn) : null;
    if (context == null) {
      return false;
    }
    resized.copyFrom(context);
    CompletionQueueContext.START.setLong(resized, 0);
    CompletionQueueContext.LOG_SIZE.set(resized, logSize);
    CompletionQueueContext.LKEY.set(resized, ResizeCq.LKEY.get(mailbox));
    queues[cqn].position = 0;
    queues[cqn].epoch = Region.NEVER;
    queues[cqn].resizes++;
    return host.writeTable(icm.completionQueue(cqn), resized, CONTEXT_SIZE);
  }

  /** A store to the CQ arm register: an event is due at the next completion of a kind. */
  void arm(int value) {
    int cqn = Doorbell.armedCqn(value);
    int wanted =
        Doorbell.armsNext(value) ? NEXT : Doorbell.armsSolicited(value) ? SOLICITED : NOT_ARMED;
    int before = cqn < arms.length() ? arms.getAndAccumulate(cqn, wanted, Math::max) : NO_QUEUE;
    if (before == NO_QUEUE) {
      faults.record("CQ %d is armed, but there is no such CQ".formatted(cqn));
    }
  }

  @Override
  public void sendDone(ConnectionContext qp, SendWork request, WorkStatus status) {
    if (status == WorkStatus.SUCCESS) {
      Cqe.encodeSuccess(
          MEMORY,
          open(qp.sendCqn),
          qp.qpn,
          qp.remoteQpn,
          (int) qp.destinationMac & 0xffff,
          0,
          (int) request.length(),
          request.position,
          true,
          request.deviceOpcode,
          ownerByte);
    } else {
      encodeError(qp, request.position, status, true);
    }
    write(qp, qp.sendCqn, status != WorkStatus.SUCCESS);
    if (status == WorkStatus.QUEUE_UNREADABLE) {
      workQueueFailed.accept(qp.qpn);
    }
  }

  @Override
  public void receiveDone(
      ConnectionContext qp,
      ReceiveWork request,
      int operation,
      int immediate,
      long length,
      boolean solicited) {
    Cqe.encodeSuccess(
        MEMORY,
        open(qp.receiveCqn),
        qp.qpn,
        request.remoteQpn,
        (int) request.remoteMac & 0xffff,
        immediate,
        (int) length,
        request.position,
        false,
        operation,
        ownerByte);
    write(qp, qp.receiveCqn, solicited);
  }

  @Override
  public void receiveFailed(ConnectionContext qp, ReceiveWork request, WorkStatus status) {
    if (status == WorkStatus.QUEUE_UNREADABLE) {
      // It is unknown whether a receive was posted there: there is nothing to complete.
      workQueueFailed.accept(qp.qpn);
      return;
    }
    encodeError(qp, request.position, status, false);
    write(qp, qp.receiveCqn, true);
  }

  private void encodeError(ConnectionContext qp, int position, WorkStatus status, boolean isSend) {
    Cqe.encodeError(MEMORY, openCopy(), qp.qpn, position, syndrome(status), 0, isSend, ownerByte);
  }

  /** Opens the next entry of a queue, where software reads it if possible; returns its place. */
  private long open(int cqn) {
    Queue known = queue;
    long at;
    if (known != null
        && known.cqn == cqn
        && known.entries.isKnown(host.current(), known.resizes)
        && !known.failed) {
      at = known.entries.at((long) known.position * Cqe.SIZE);
      inPlace = true;
    } else {
      inPlace = load(cqn) && !queue.failed && reach();
      at = entry.at();
    }
    inPlace = inPlace && isFree(Cqe.plainLastDword(MEMORY, at));
    return inPlace ? at : openCopy();
  }

  /** Opens a copy, which is then written through the bus; returns its place. */
  private long openCopy() {
    inPlace = false;
    entry.copy();
    return entry.at();
  }

  /** Whether the entry of the queue that is loaded can be stored in place. */
  private boolean reach() {
    long offset = queue.start + (long) queue.position * Cqe.SIZE;
    if (!memory.reach(queue.memory, queue.key, queue.pd, offset, Cqe.SIZE, entry)
        || !queue.memory.isWritable()
        || !entry.isAligned()) {
      return false;
    }
    if (queue.logSize <= maxLogSize) { // which software may have changed since the queue was taken
      long bytes = (long) Cqe.SIZE << queue.logSize;
      queue.entries.keep(queue.memory, queue.start, bytes, host.epoch(), queue.resizes);
    }
    return true;
  }

  /**
   * Writes the entry.
   *
   * @param solicited whether it gives the event that a queue is armed for with solicited only
   */
  private void write(ConnectionContext qp, int cqn, boolean solicited) {
    if (!put(cqn)) {
      workQueueFailed.accept(qp.qpn);
    } else {
      note(cqn, solicited);
    }
  }

  /** Raises the event of the queue that is loaded. */
  private void raise(int cqn) {
    if (!events.completion(cqn, queue.eqn)) {
      faults.record(
          "a completion event of CQ %d is lost: there is no EQ %d".formatted(cqn, queue.eqn));
    }
  }

  /** Has the arm state of a queue checked at the end of the step. */
  private void note(int cqn, boolean solicited) {
    if (cqn != lastWritten) {
      lastWritten = cqn;
      recent.set(cqn);
    }
    if (solicited && !recentSolicited.get(cqn)) {
      recentSolicited.set(cqn);
    }
  }

  private void forgetEntries(int cqn) {
    recent.clear(cqn);
    recentSolicited.clear(cqn);
    lastWritten = NO_QUEUE_WRITTEN;
  }

  /**
   * The end of a step: raises the events of the queues that have got entries. A thread that armed a
   * queue during the step may have found it empty before it saw the entry, while the card did not
   * see that it is armed: whichever of these was second is seen now.
   */
  void endStep() {
    if (recent.isEmpty()) {
      return;
    }
    lastWritten = NO_QUEUE_WRITTEN;
    VarHandle.fullFence(); // between the entries and the check of the arm state
    for (int cqn = recent.nextSetBit(0); cqn >= 0; cqn = recent.nextSetBit(cqn + 1)) {
      if (load(cqn) && disarm(cqn, recentSolicited.get(cqn))) {
        raise(cqn);
      }
    }
    recent.clear();
    recentSolicited.clear();
  }

  /** Whether the queue was armed for such an entry; if so, disarms it. */
  private boolean disarm(int cqn, boolean solicited) {
    int armed = arms.get(cqn);
    while (armed == NEXT || armed == SOLICITED && solicited) {
      if (arms.compareAndSet(cqn, armed, NOT_ARMED)) {
        return true;
      }
      armed = arms.get(cqn);
    }
    return false;
  }

  /** Writes the entry where the queue's next one goes; returns false when it is lost. */
  private boolean put(int cqn) {
    if (!inPlace && !putCopy(cqn)) {
      return false;
    }
    written++;
    queue.position = queue.position + 1 & (1 << queue.logSize) - 1;
    return true;
  }

  private boolean putCopy(int cqn) {
    if (!load(cqn)) {
      faults.record("a completion for CQ %d is lost: there is no such CQ".formatted(cqn));
      return false;
    }
    if (queue.failed) {
      return false;
    }
    int at = queue.position;
    long offset = queue.start + (long) at * Cqe.SIZE;
    MemoryStatus status = memory.openQueue(queue.key, queue.pd, offset, Cqe.SIZE);
    if (status == MemoryStatus.OK) {
      status = memory.readOpened(offset + Cqe.OWNER_OFFSET, owner, 0, 1);
    }
    boolean isFree = isFree(owner.get(ValueLayout.JAVA_BYTE, 0) << Byte.SIZE * 3);
    if (status == MemoryStatus.OK && isFree) {
      status = memory.writeOpened(offset, entry.copy(), Cqe.SIZE);
    }
    if (status != MemoryStatus.OK || !isFree) {
      String why =
          status == MemoryStatus.OK
              ? "has not been consumed"
              : "cannot be written (%s)".formatted(status);
      faults.record(
          "a completion for CQ %d is lost: entry %d of its memory %s".formatted(cqn, at, why));
      queue.failed = true;
      events.completionQueueFailed(cqn);
      return false;
    }
    return true;
  }

  private static boolean isFree(int lastDword) {
    return (Cqe.owner(lastDword) & Cqe.OWNER_HARDWARE) != 0;
  }

  /** A queue that the card owns, or null. */
  private Queue find(int cqn) {
    return cqn >= 0 && cqn < queues.length ? queues[cqn] : null;
  }

  /** Loads the context of a queue; returns whether the queue is the card's. */
  private boolean load(int cqn) {
    queue = find(cqn);
    return queue != null && (contexts.isGood(queue.epoch) || read(cqn));
  }

  /** Reads the context of the queue; returns whether that is possible. */
  private boolean read(int cqn) {
    MemorySegment context = contexts.read(cqn);
    if (context != null) {
      queue.key = CompletionQueueContext.LKEY.get(context);
      queue.pd = CompletionQueueContext.PD.get(context);
      queue.start = CompletionQueueContext.START.getLong(context);
      queue.logSize = CompletionQueueContext.LOG_SIZE.get(context);
      queue.eqn = CompletionQueueContext.COMP_EQN.get(context);
      queue.epoch = contexts.epoch();
    }
    return context != null;
  }

  private static int syndrome(WorkStatus status) {
    Syndrome syndrome =
        switch (status) {
          case SUCCESS -> Syndrome.UNKNOWN;
          case LOCAL_LENGTH -> Syndrome.LOCAL_LENGTH_ERR;
          case LOCAL_OPERATION, QUEUE_UNREADABLE -> Syndrome.LOCAL_QP_OP_ERR;
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
