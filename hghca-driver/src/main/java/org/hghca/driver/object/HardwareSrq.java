package org.hghca.driver.object;

import java.util.Objects;
import java.util.function.Consumer;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.SrqContext;
import org.hghca.driver.card.Card;
import org.hghca.driver.event.EventSource;
import org.hghca.driver.memory.Registrar;
import org.hghca.driver.ring.QueueGeometry;
import org.hghca.driver.ring.ReceiveChain;
import org.hghca.driver.ring.ReceiveRing;
import org.hghca.provider.Failures;
import org.hghca.provider.Undo;
import org.hghca.provider.counters.Tally;
import org.hghca.provider.queue.LockRank;
import org.hghca.provider.queue.SpinLock;
import org.hghca.provider.srq.SharedQueue;
import org.hghca.provider.srq.SharingQueuePair;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.Counter;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SharedReceiveQueueConfig;

/**
 * A shared receive queue of the card, whose requests are a {@link ReceiveChain}. Its lock is taken
 * under those of the completion queues, since completions free slots.
 */
final class HardwareSrq extends SharedQueue implements ReceiveSharing, EventSource {
  private final HghcaProtectionDomain pd;
  private final HghcaDevice device;
  private final Card card;
  private final int number;
  private final int strideLog;
  private final SpinLock lock = new SpinLock(LockRank.SHARED_RECEIVES);
  private Registrar.Registration memory;
  private ReceiveChain chain;
  private int capacity;

  /** Number of requests that the program has posted. */
  private long posted;

  HardwareSrq(HghcaProtectionDomain pd, SharedReceiveQueueConfig config) {
    super(pd, pd.context(), config);
    this.pd = pd;
    this.device = pd.device();
    this.card = device.card();
    try (Undo undo = new Undo()) {
      undo.add(this::abandon);
      check(config);
      this.strideLog = QueueGeometry.receiveStrideLog(maxSge());
      this.capacity = config.capacity();
      int slots = slots(capacity);
      this.number = device.srqNumbers().allocate();
      undo.add(() -> device.srqNumbers().free(number));
      this.memory = register(slots);
      undo.add(memory::close);
      this.chain = ReceiveChain.of(memory.mapping().segment(), strideLog, slots);
      card.commands().sw2hwSrq(number, context(memory, chain, config.limit()));
      device.objects().addSharedReceiveQueue(number, this);
      pd.context().count(this);
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
    return device.queueMemory().register(ReceiveChain.bytes(slots, strideLog), pd.number(), 0);
  }

  private SrqContext context(Registrar.Registration memory, ReceiveChain chain, int limit) {
    return new SrqContext(
        0,
        Integer.numberOfTrailingZeros(chain.slots()),
        number,
        memory.key(),
        (int) chain.countOffset(),
        strideLog,
        pd.context().uar().index(),
        0,
        pd.number(),
        limit,
        0,
        0);
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
    if (chain.outstanding() == capacity) {
      return false;
    }
    chain.post(request);
    posted++;
    return true;
  }

  // ---- completions

  private long take(int wqe) {
    lock.lock();
    try {
      return chain.take(wqe);
    } finally {
      lock.unlock();
    }
  }

  /** A request without a completion for the program is posted again, after all others. */
  private void postAgain(int wqe) {
    lock.lock();
    try {
      chain.postAgain(wqe);
    } finally {
      lock.unlock();
    }
  }

  // ---- queue pairs

  /** A queue pair that uses it: only its name is needed, and what it has received. */
  private final class Receiver implements SharedReceiver {
    private long receivedBytes;

    @Override
    public SharedQueue queue() {
      return HardwareSrq.this;
    }

    @Override
    public void writeTo(QueuePairContext context) {
      context.set(QueuePairContext.HAS_SRQ, 1).set(QueuePairContext.SRQN, number);
    }

    @Override
    public boolean isResetByError() {
      return true;
    }

    @Override
    public boolean expects(int wqe) {
      return chain.isTaken(wqe);
    }

    @Override
    public long take(int wqe, int bytes) {
      receivedBytes += bytes;
      return HardwareSrq.this.take(wqe);
    }

    @Override
    public long receivedBytes() {
      return receivedBytes;
    }

    @Override
    public void drop(int wqe) {
      if (chain.isTaken(wqe)) {
        postAgain(wqe);
      }
    }

    @Override
    public void reclaim(Consumer<Runnable> drop) {
      drop.accept(() -> {});
    }
  }

  @Override
  public SharedReceiver receiver(SharingQueuePair qp, ReceiveRing ring) {
    return new Receiver();
  }

  @Override
  public QueuePairCapabilities rings(QueuePairCapabilities c) {
    return new QueuePairCapabilities(c.sendDepth(), 0, c.maxSendSge(), 0, c.maxInline());
  }

  @Override
  public SpinLock receiveLock() {
    return new SpinLock(LockRank.RECEIVES);
  }

  @Override
  public void raise(AsyncEventType type) {
    pd.context().raise(type, this);
  }

  // ---- modifying

  @Override
  public void limit(int wanted) {
    checkAlive();
    check("a limit", wanted, 0, capacity());
    try {
      card.commands().armSrq(number, wanted);
      device.events().deliverAll();
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
  protected void setCapacity(int wanted) {
    int limit = limit();
    Registrar.Registration old = null;
    lock.lock();
    try {
      if (wanted < Math.max(limit, chain.outstanding())) {
        throw tooSmall(wanted, chain.outstanding(), limit);
      }
      if (slots(wanted) > chain.slots()) {
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
   * Continues in other memory. Under the lock, so that nothing is posted meanwhile.
   *
   * @return the previous memory, which the card has released
   */
  private Registrar.Registration grow(int slots) {
    Registrar.Registration old = memory;
    try (Undo undo = new Undo()) {
      Registrar.Registration larger = register(slots);
      undo.add(larger::close);
      ReceiveChain copy = chain.copy(larger.mapping().segment(), slots);
      card.commands().resizeSrq(number, context(larger, copy, 0));
      memory = larger;
      chain = copy;
      undo.forget();
    }
    return old;
  }

  @Override
  public void addTo(Tally sum) {
    lock.lock();
    try {
      sum.add(Counter.RECEIVES_POSTED, posted);
    } finally {
      lock.unlock();
    }
  }

  /** Remaining requests are dropped; no queue pair uses it. */
  @Override
  protected void release() {
    device.objects().removeSharedReceiveQueue(number);
    pd.context().countNoMore(this);
    pd.context().forgetEvents(this);
    card.deferredFree()
        .retire(
            describe(),
            () -> {
              card.commands().hw2swSrq(number);
              // Events of this queue must not be mistaken for those of the next one with its
              // number.
              device.events().deliverAll();
            },
            () -> memory.close(),
            () -> device.srqNumbers().free(number));
  }
}
