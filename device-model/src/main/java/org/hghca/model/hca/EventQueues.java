package org.hghca.model.hca;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import org.hghca.abi.Doorbell;
import org.hghca.abi.Eqe;
import org.hghca.abi.EventQueueContext;
import org.hghca.model.card.Faults;
import org.hghca.model.card.HostMemory;
import org.hghca.model.transport.MemoryStatus;

/**
 * Writes event queue entries and raises interrupts. A queue's context is stored in interconnect
 * context memory and kept on the chip, with both indices, which begin at 0 when the queue is handed
 * over. Events of a full queue are not dropped: they wait here until software has consumed entries.
 *
 * <p>A queue is armed when it is handed over with {@link EventQueueContext#ARMED} and by each store
 * to the EQ arm register. When it is armed and holds an entry, whichever comes last, its interrupt
 * is raised once and it is armed no longer.
 *
 * <p>A queue whose memory cannot be written is in error until software takes it back: its events
 * are lost.
 */
final class EventQueues {
  /** The maximum number of queues and of interrupt vectors. */
  static final int MAX_QUEUES = 1 << CardLimits.ALL.maxEqsLog();

  /** Indices count modulo 2^24: a full queue must differ from an empty one. */
  private static final int MAX_LOG_SIZE = 23;

  private static final int INDEX_MASK = 0xff_ffff;

  private record Event(int type, int subtype, int data) {}

  private static final class Queue {
    private final int key;
    private final int pd;
    private final int size;
    private final int vector;
    private final ArrayDeque<Event> waiting = new ArrayDeque<>();

    /** Completion queues with a waiting event: a second one would be redundant. */
    private final BitSet waitingCompletions = new BitSet();

    private int producer;
    private int consumer;
    private boolean armed;
    private boolean broken;

    Queue(MemorySegment context) {
      key = EventQueueContext.LKEY.get(context);
      pd = EventQueueContext.PD.get(context);
      size = 1 << EventQueueContext.LOG_SIZE.get(context);
      vector = EventQueueContext.INTERRUPT.get(context);
      armed = (EventQueueContext.FLAGS.get(context) & EventQueueContext.ARMED) != 0;
    }

    /** Entries that software has not returned. */
    int used() {
      return producer - consumer & INDEX_MASK;
    }
  }

  private final HostMemory host;
  private final Icm icm;
  private final TranslationTables memory;
  private final Faults faults;
  private final int vectors;
  private final Runnable catastrophe;
  private final Queue[] queues = new Queue[MAX_QUEUES];
  private final MemorySegment entry = Arena.ofAuto().allocate(Eqe.SIZE, 64);
  private long written;
  private long interrupts;
  private long overruns;

  /**
   * @param vectors number of interrupt vectors of the function; others are not raised
   * @param catastrophe run when a queue's memory cannot be written
   */
  EventQueues(
      HostMemory host,
      Icm icm,
      TranslationTables memory,
      Faults faults,
      int vectors,
      Runnable catastrophe) {
    this.host = host;
    this.icm = icm;
    this.memory = memory;
    this.faults = faults;
    this.vectors = vectors;
    this.catastrophe = catastrophe;
  }

  /** Clears all queues and their waiting events. */
  void reset() {
    Arrays.fill(queues, null);
  }

  /** Number of entries written. */
  long written() {
    return written;
  }

  /** Number of interrupts raised. */
  long interrupts() {
    return interrupts;
  }

  /** Number of events that had to wait because their queue was full. */
  long overruns() {
    return overruns;
  }

  boolean owns(int eqn) {
    return eqn >= 0 && eqn < queues.length && queues[eqn] != null;
  }

  /**
   * SW2HW_EQ: takes a queue over from software.
   *
   * @return false when number, size or vector is wrong, it is the card's already, or its place in
   *     ICM cannot be reached
   */
  boolean take(int eqn, MemorySegment mailbox) {
    long at = icm.eventQueue(eqn);
    if (at == Icm.NONE
        || owns(eqn)
        || EventQueueContext.LOG_SIZE.get(mailbox) > MAX_LOG_SIZE
        || EventQueueContext.INTERRUPT.get(mailbox) >= MAX_QUEUES
        || !host.writeTable(at, mailbox, EventQueueContext.LAYOUT.size())) {
      return false;
    }
    queues[eqn] = new Queue(mailbox);
    return true;
  }

  /**
   * HW2SW_EQ: gives a queue back to software; what waits for it is dropped.
   *
   * @return false when it is not the card's
   */
  boolean release(int eqn) {
    boolean held = owns(eqn);
    if (held) {
      queues[eqn] = null;
    }
    return held;
  }

  /** A store to the EQ arm register: returns entries to the card and arms the queue. */
  void arm(int value) {
    int eqn = Doorbell.armedEqn(value);
    if (!owns(eqn)) {
      faults.record("EQ %d is armed, but there is no such EQ".formatted(eqn));
      return;
    }
    Queue queue = queues[eqn];
    int consumer = Doorbell.consumerIndex(value);
    if ((consumer - queue.consumer & INDEX_MASK) > queue.used()) {
      faults.record(
          "EQ %d is armed with consumer index %d, which is not between %d and producer index %d"
              .formatted(eqn, consumer, queue.consumer, queue.producer));
      return;
    }
    queue.consumer = consumer;
    while (!queue.waiting.isEmpty() && queue.used() < queue.size) {
      Event event = queue.waiting.remove();
      if (event.type() == Eqe.TYPE_COMPLETION) {
        queue.waitingCompletions.clear(event.data());
      }
      write(eqn, event.type(), event.subtype(), event.data());
    }
    queue.armed = true;
    signal(queue);
  }

  /**
   * Reports an event to a queue, which must be the card's.
   *
   * @param type {@link Eqe#TYPE_COMPLETION} or the code of an event
   * @param data queue pair, completion queue or port number
   * @return whether it is written or waits; false when the queue is in error
   */
  boolean report(int eqn, int type, int subtype, int data) {
    Queue queue = queues[eqn];
    if (queue.broken) {
      return false;
    }
    if (queue.waiting.isEmpty() && queue.used() < queue.size) {
      return write(eqn, type, subtype, data);
    }
    if (type == Eqe.TYPE_COMPLETION && queue.waitingCompletions.get(data)) {
      return true;
    }
    overruns++;
    queue.waiting.add(new Event(type, subtype, data));
    if (type == Eqe.TYPE_COMPLETION) {
      queue.waitingCompletions.set(data);
    }
    return true;
  }

  private boolean write(int eqn, int type, int subtype, int data) {
    Queue queue = queues[eqn];
    Eqe.encode(entry, 0, type, subtype, data);
    int at = queue.producer & queue.size - 1;
    MemoryStatus status =
        memory.writeQueue(queue.key, queue.pd, (long) at * Eqe.SIZE, entry, Eqe.SIZE);
    if (status != MemoryStatus.OK) {
      faults.record(
          "an event is lost and EQ %d in error: entry %d of its memory cannot be written (%s)"
              .formatted(eqn, at, status));
      queue.broken = true;
      queue.waiting.clear();
      queue.waitingCompletions.clear();
      catastrophe.run();
      return false;
    }
    queue.producer = queue.producer + 1 & INDEX_MASK;
    written++;
    signal(queue);
    return true;
  }

  private void signal(Queue queue) {
    if (queue.armed && queue.used() > 0) {
      queue.armed = false;
      if (queue.vector < vectors) {
        interrupts++;
        host.raise(queue.vector);
      }
    }
  }
}
