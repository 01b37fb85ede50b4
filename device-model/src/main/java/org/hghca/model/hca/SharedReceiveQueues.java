package org.hghca.model.hca;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.hghca.abi.SrqContext;
import org.hghca.model.transport.ConnectionContext;
import org.hghca.model.transport.MemoryStatus;
import org.hghca.model.transport.ReceiveWork;
import org.hghca.model.transport.WorkStatus;

/**
 * Shared receive queues, an extension of the document's card. Their contexts are on the chip. A
 * message takes the WQE that was posted first, whichever queue pair it is for. A queue whose memory
 * cannot be read, or whose chain leads outside it, is in error until software takes it back.
 */
final class SharedReceiveQueues {
  private static final int UNIT = 16;
  private static final int MAX_LOG_SIZE = 15;

  private final TranslationTables memory;
  private final ReceiveWqeReader wqes;
  private final EventRouting events;
  private final int limit;
  private final MemorySegment count = Arena.ofAuto().allocate(SrqContext.COUNT_SIZE, 64);

  /** By number, null for a queue that software owns. */
  private Queue[] queues = new Queue[16];

  /**
   * @param limit the first invalid number
   */
  SharedReceiveQueues(
      TranslationTables memory, ReceiveWqeReader wqes, EventRouting events, int limit) {
    this.memory = memory;
    this.wqes = wqes;
    this.events = events;
    this.limit = limit;
  }

  private static final class Queue {
    int lkey;
    int pd;
    int logSize;
    int strideLog;
    long ringOffset;
    int countOffset;
    int watermark;

    /** Offset in the ring of the WQE that is taken next. */
    int position;

    /** Number of WQEs taken, modulo 2^32. */
    int taken;

    /** The count when it was last read. */
    int posted;

    boolean failed;

    int bytes() {
      return 1 << logSize + strideLog;
    }

    void place(SrqContext context) {
      lkey = context.lkey();
      pd = context.pd();
      logSize = context.logSize();
      strideLog = context.strideLog();
      ringOffset = context.ringOffset();
      countOffset = context.countOffset();
    }
  }

  /** Forgets all queues. */
  void reset() {
    Arrays.fill(queues, null);
  }

  private Queue find(int srqn) {
    return srqn >= 0 && srqn < queues.length ? queues[srqn] : null;
  }

  private static boolean isPossible(SrqContext context) {
    return context.logSize() <= MAX_LOG_SIZE
        && context.strideLog() >= ReceiveWqeReader.MIN_SLOT_LOG
        && context.strideLog() <= ReceiveWqeReader.MAX_SLOT_LOG
        && (context.countOffset() & SrqContext.COUNT_SIZE - 1) == 0;
  }

  /**
   * SW2HW_SRQ: takes a queue over from software.
   *
   * @return false when number or context is wrong, or it is the card's already
   */
  boolean take(int srqn, MemorySegment mailbox) {
    SrqContext context = SrqContext.decode(mailbox);
    if (srqn < 0 || srqn >= limit || find(srqn) != null || !isPossible(context)) {
      return false;
    }
    if (srqn >= queues.length) {
      queues = Arrays.copyOf(queues, Math.max(srqn + 1, 2 * queues.length));
    }
    Queue queue = new Queue();
    queue.place(context);
    queue.watermark = context.limit();
    queues[srqn] = queue;
    return true;
  }

  /**
   * HW2SW_SRQ: gives a queue back to software.
   *
   * @return false when it is not the card's
   */
  boolean release(int srqn) {
    boolean held = find(srqn) != null;
    if (held) {
      queues[srqn] = null;
    }
    return held;
  }

  /**
   * RESIZE_SRQ: continues in other memory, in the current slot.
   *
   * @return false when the queue is not the card's, or would be shorter or of other slots
   */
  boolean resize(int srqn, MemorySegment mailbox) {
    Queue queue = find(srqn);
    SrqContext context = SrqContext.decode(mailbox);
    if (queue == null
        || !isPossible(context)
        || context.strideLog() != queue.strideLog
        || context.logSize() < queue.logSize) {
      return false;
    }
    queue.place(context);
    return true;
  }

  /**
   * ARM_SRQ: an event is due when fewer WQEs are left than a limit.
   *
   * @return false when the queue is not the card's or cannot be read
   */
  boolean arm(int srqn, int watermark) {
    Queue queue = find(srqn);
    if (queue == null || watermark < 0 || watermark > 0xffff || !look(srqn, queue)) {
      return false;
    }
    queue.watermark = watermark;
    watch(srqn, queue);
    return true;
  }

  /**
   * QUERY_SRQ.
   *
   * @return false when the queue is not the card's
   */
  boolean query(int srqn, MemorySegment mailbox) {
    Queue queue = find(srqn);
    if (queue == null) {
      return false;
    }
    boolean readable = look(srqn, queue);
    new SrqContext(
            queue.failed ? 1 : 0,
            queue.logSize,
            srqn,
            queue.lkey,
            queue.countOffset,
            queue.strideLog,
            0,
            queue.ringOffset,
            queue.pd,
            queue.watermark,
            readable ? queue.posted - queue.taken & 0xffff : 0,
            queue.taken & 0xffff)
        .encode(mailbox);
    return true;
  }

  /** Reads the number of posted WQEs; returns false when the queue is in error. */
  private boolean look(int srqn, Queue queue) {
    if (!queue.failed
        && memory.readQueue(
                queue.lkey, queue.pd, queue.countOffset, count, 0, SrqContext.COUNT_SIZE)
            != MemoryStatus.OK) {
      fail(srqn, queue);
    }
    queue.posted = queue.failed ? queue.taken : SrqContext.readCount(count, 0);
    return !queue.failed;
  }

  private void fail(int srqn, Queue queue) {
    queue.failed = true;
    events.sharedQueueFailed(srqn);
  }

  private void watch(int srqn, Queue queue) {
    int left = queue.posted - queue.taken;
    if (left < queue.watermark) {
      queue.watermark = 0;
      events.sharedQueueLow(srqn);
    }
  }

  /**
   * Takes the WQE that was posted first. One that cannot be read is also returned, with its status.
   *
   * @return whether there was one
   */
  boolean next(ConnectionContext qp, ReceiveWork into) {
    int srqn = qp.sharedQueue;
    Queue queue = find(srqn);
    into.clear();
    if (queue == null || !look(srqn, queue)) {
      into.status = WorkStatus.QUEUE_UNREADABLE;
      return true;
    }
    if (queue.posted == queue.taken) {
      return false;
    }
    int at = queue.position;
    into.position = at;
    long place = queue.ringOffset + at;
    if (!wqes.load(queue.lkey, queue.pd, place, queue.strideLog)) {
      fail(srqn, queue);
      into.status = WorkStatus.QUEUE_UNREADABLE;
      return true;
    }
    int next = wqes.next() * UNIT;
    if (next < 0 || next >= queue.bytes() || (next & (1 << queue.strideLog) - 1) != 0) {
      fail(srqn, queue);
      into.status = WorkStatus.QUEUE_UNREADABLE;
      return true;
    }
    ReceiveWqeReader.parse(wqes.slot().at(), queue.strideLog, into);
    queue.position = next;
    queue.taken++;
    watch(srqn, queue);
    return true;
  }
}
