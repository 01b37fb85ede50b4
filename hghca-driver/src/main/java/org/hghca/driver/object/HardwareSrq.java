package org.hghca.driver.object;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import org.hghca.abi.DataUnit;
import org.hghca.abi.NextUnit;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.SrqContext;
import org.hghca.abi.WqeOpcode;
import org.hghca.driver.card.Card;
import org.hghca.driver.memory.Registrar;
import org.hghca.driver.ring.QueueGeometry;
import org.hghca.driver.ring.ReceiveRing;
import org.hghca.provider.ContextCounters;
import org.hghca.provider.Failures;
import org.hghca.provider.LockRank;
import org.hghca.provider.SpinLock;
import org.hghca.provider.Undo;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SharedReceiveQueueConfig;

/**
 * A shared receive queue of the card: a chain of requests, from which each message takes the
 * oldest. Requests complete in any order, so the free slots are in a separate chain, in the order
 * of later posts; the card follows the same chain. One slot is always free: the slot of the next
 * request is known before it is posted.
 *
 * <p>Its lock is taken under those of the completion queues, since completions free slots.
 */
final class HardwareSrq extends HghcaSharedReceiveQueue {
  private static final int UNIT = 16;
  private static final int END = -1;

  /** Separate, so that the card's reads do not disturb posting threads. */
  private static final int COUNT_LINE = 64;

  private final HghcaDevice device;
  private final Card card;
  private final int number;
  private final int strideLog;
  private final SpinLock lock = new SpinLock(LockRank.SHARED_RECEIVES);
  private Registrar.Registration memory;
  private MemorySegment ring;
  private long countOffset;
  private int capacity;
  private long[] wrIds;

  /** The successor of each slot; for free slots, the next one to be posted. */
  private int[] next;

  /** Whether a slot holds a request that is not complete. */
  private boolean[] taken;

  private int firstFree;
  private int lastFree;
  private int outstanding;

  /** Number of requests announced to the card, modulo 2^32. */
  private int count;

  /** Number of requests that the program has posted. */
  private long posted;

  HardwareSrq(HghcaProtectionDomain pd, SharedReceiveQueueConfig config) {
    super(pd, config);
    this.device = pd.device();
    this.card = device.card();
    try (Undo undo = new Undo()) {
      undo.add(this::abandon);
      check(config);
      this.strideLog = QueueGeometry.receiveStrideLog(maxSge());
      this.capacity = config.capacity();
      int slots = slots(capacity);
      this.wrIds = new long[slots];
      this.next = new int[slots];
      this.taken = new boolean[slots];
      chain(0);
      this.number = device.srqNumbers().allocate();
      undo.add(() -> device.srqNumbers().free(number));
      this.memory = register(slots);
      undo.add(memory::close);
      enter(memory);
      card.commands().sw2hwSrq(number, context(config.limit()));
      device.objects().add(this);
      pd.deviceContext().count(this);
      publish();
      undo.forget();
    } catch (RuntimeException e) {
      throw Failures.of("cannot create a shared receive queue", e);
    }
  }

  /** A power of two, one more than the capacity at least. */
  private static int slots(int capacity) {
    return Integer.highestOneBit(capacity) << 1;
  }

  private Registrar.Registration register(int slots) {
    return device.queueMemory().register(((long) slots << strideLog) + COUNT_LINE, pd.number(), 0);
  }

  private void enter(Registrar.Registration other) {
    memory = other;
    ring = other.mapping().segment();
    countOffset = (long) wrIds.length << strideLog;
  }

  /** Makes a chain of all slots from one on, which ends. */
  private void chain(int from) {
    for (int slot = from; slot < next.length; slot++) {
      next[slot] = slot + 1;
    }
    lastFree = next.length - 1;
    next[lastFree] = END;
  }

  private SrqContext context(int limit) {
    return new SrqContext(
        0,
        Integer.numberOfTrailingZeros(wrIds.length),
        number,
        memory.key(),
        (int) countOffset,
        strideLog,
        pd.deviceContext().uar().index(),
        0,
        pd.number(),
        limit,
        0,
        0);
  }

  int number() {
    return number;
  }

  /** The key of its memory. */
  int key() {
    return memory.key();
  }

  @Override
  public int capacity() {
    lock.lock();
    try {
      return capacity;
    } finally {
      lock.unlock();
    }
  }

  // ---- posting

  @Override
  public boolean tryPostReceive(ReceiveRequest request) {
    lock.lock();
    try {
      return post(request, 0);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public int tryPostReceive(ReceiveRequest[] list, int from, int count) {
    Objects.checkFromIndexSize(from, count, list.length);
    int done = 0;
    lock.lock();
    try {
      while (done < count && post(list[from + done], done)) {
        done++;
      }
      return done;
    } finally {
      lock.unlock();
    }
  }

  private boolean post(ReceiveRequest request, int index) {
    check(request, index);
    if (outstanding == capacity) {
      return false;
    }
    int slot = firstFree;
    long end = ReceiveRing.writeElements(ring, request, place(slot) + UNIT);
    DataUnit.writeTerminator(ring, end);
    publish(slot, (int) (end + UNIT - place(slot)) / UNIT, request.wrId());
    posted++;
    return true;
  }

  /** Posts the first free slot, which holds a request except its next unit. */
  private void publish(int slot, int size16, long wrId) {
    int behind = next[slot];
    NextUnit.write(
        ring,
        place(slot),
        NextUnit.address((int) (place(behind) / UNIT), 0) | NextUnit.ADDRESS_MARKER,
        0,
        NextUnit.control(WqeOpcode.NOP, size16, NextUnit.MARKER),
        0);
    wrIds[slot] = wrId;
    taken[slot] = true;
    firstFree = behind;
    outstanding++;
    SrqContext.writeCount(ring, countOffset, ++count);
  }

  private long place(int slot) {
    return (long) slot << strideLog;
  }

  private void free(int slot) {
    taken[slot] = false;
    outstanding--;
    next[slot] = END;
    next[lastFree] = slot;
    lastFree = slot;
  }

  // ---- completions

  /** Whether a slot holds an outstanding request. */
  private boolean isTaken(int offset) {
    int slot = offset >>> strideLog;
    return offset == slot << strideLog && slot < taken.length && taken[slot];
  }

  private long take(int slot) {
    lock.lock();
    try {
      free(slot);
      return wrIds[slot];
    } finally {
      lock.unlock();
    }
  }

  /** A request without a completion for the program is posted again, after all others. */
  private void postAgain(int slot) {
    lock.lock();
    try {
      free(slot); // the content stays until the slot's turn
      int size16 = NextUnit.size16(ring, place(slot));
      MemorySegment.copy(ring, place(slot), ring, place(firstFree), (long) size16 * UNIT);
      publish(firstFree, size16, wrIds[slot]);
    } finally {
      lock.unlock();
    }
  }

  // ---- queue pairs

  /** A queue pair that uses it: only its name is needed. */
  private final class Receiver implements SharedReceiver {
    private final HghcaQueuePair qp;

    Receiver(HghcaQueuePair qp) {
      this.qp = qp;
    }

    @Override
    public HghcaSharedReceiveQueue queue() {
      return HardwareSrq.this;
    }

    @Override
    public void tell(QueuePairContext context) {
      context.set(QueuePairContext.HAS_SRQ, 1).set(QueuePairContext.SRQN, number);
    }

    @Override
    public boolean isResetByError() {
      return true;
    }

    @Override
    public boolean expects(int wqe) {
      return isTaken(wqe);
    }

    @Override
    public long take(int wqe) {
      return HardwareSrq.this.take(wqe >>> strideLog);
    }

    @Override
    public void drop(int wqe) {
      if (isTaken(wqe)) {
        postAgain(wqe >>> strideLog);
      }
    }

    @Override
    public void takeBack(HghcaCompletionQueue cq) {
      cq.drop(qp.rings(), () -> {});
    }

    @Override
    public void join() {}

    @Override
    public void leave() {}

    @Override
    public void stateChanged() {}
  }

  @Override
  SharedReceiver receiver(HghcaQueuePair qp, ReceiveRing ring) {
    return new Receiver(qp);
  }

  @Override
  QueuePairCapabilities rings(QueuePairCapabilities c) {
    return new QueuePairCapabilities(c.sendDepth(), 0, c.maxSendSge(), 0, c.maxInline());
  }

  @Override
  SpinLock receiveLock() {
    return new SpinLock(LockRank.RECEIVES);
  }

  /** The card has reported an event. */
  void raise(AsyncEventType type) {
    pd.deviceContext().raise(type, this);
  }

  // ---- modifying

  @Override
  public void limit(int wanted) {
    checkAlive();
    check("a limit", wanted, 0, capacity());
    try {
      card.commands().armSrq(number, wanted);
      device.events().settle();
    } catch (RuntimeException e) {
      throw Failures.of("cannot set a limit of " + describe(), e);
    }
  }

  @Override
  public int limit() {
    checkAlive();
    try {
      return card.commands().querySrq(number).limit();
    } catch (RuntimeException e) {
      throw Failures.of("cannot query " + describe(), e);
    }
  }

  @Override
  void setCapacity(int wanted) {
    int limit = limit();
    Registrar.Registration old = null;
    lock.lock();
    try {
      if (wanted < Math.max(limit, outstanding)) {
        throw tooSmall(wanted, outstanding, limit);
      }
      if (slots(wanted) > wrIds.length) {
        old = grow(slots(wanted));
      }
      capacity = wanted;
    } catch (RuntimeException e) {
      throw Failures.of("cannot resize " + describe(), e);
    } finally {
      lock.unlock();
    }
    if (old != null) {
      old.close();
    }
  }

  /**
   * Continues in other memory, in the same slots. Under the lock: while nothing is posted, both
   * hold the same content, whichever the card reads.
   *
   * @return the previous memory, which the card has released
   */
  private Registrar.Registration grow(int slots) {
    Registrar.Registration old = memory;
    MemorySegment from = ring;
    int before = wrIds.length;
    try (Undo undo = new Undo()) {
      Registrar.Registration larger = register(slots);
      undo.add(larger::close);
      wrIds = Arrays.copyOf(wrIds, slots);
      next = Arrays.copyOf(next, slots);
      taken = Arrays.copyOf(taken, slots);
      undo.add(() -> shrink(before, old));
      MemorySegment.copy(from, 0, larger.mapping().segment(), 0, place(before));
      enter(larger);
      SrqContext.writeCount(ring, countOffset, count);
      card.commands().resizeSrq(number, context(0));
      next[lastFree] = before;
      chain(before);
      undo.forget();
    }
    return old;
  }

  private void shrink(int slots, Registrar.Registration old) {
    wrIds = Arrays.copyOf(wrIds, slots);
    next = Arrays.copyOf(next, slots);
    taken = Arrays.copyOf(taken, slots);
    enter(old);
  }

  @Override
  public void addTo(ContextCounters counters) {
    lock.lock();
    try {
      counters.add(0, posted, 0);
    } finally {
      lock.unlock();
    }
  }

  /** Remaining requests are dropped; no queue pair uses it. */
  @Override
  protected void release() {
    device.objects().remove(this);
    pd.deviceContext().countNoMore(this);
    pd.deviceContext().forgetEvents(this);
    card.deferredFree()
        .retire(
            describe(),
            () -> {
              card.commands().hw2swSrq(number);
              // Events of this queue must not be mistaken for those of the next one with its
              // number.
              device.events().settle();
            },
            () -> memory.close(),
            () -> device.srqNumbers().free(number));
  }
}
