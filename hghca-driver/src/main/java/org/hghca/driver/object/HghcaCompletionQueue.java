package org.hghca.driver.object;

import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.Cqe;
import org.hghca.driver.card.Card;
import org.hghca.driver.card.Limits;
import org.hghca.driver.completion.CompletionNotifier;
import org.hghca.driver.completion.CompletionParser;
import org.hghca.driver.completion.CompletionRing;
import org.hghca.driver.completion.DriverFlush;
import org.hghca.driver.completion.FlushingQueuePairs;
import org.hghca.driver.completion.QueuePairRings;
import org.hghca.driver.event.WatchedQueue;
import org.hghca.driver.memory.Ring;
import org.hghca.icm.IcmRange;
import org.hghca.icm.IcmTable;
import org.hghca.provider.Failures;
import org.hghca.provider.Undo;
import org.hghca.provider.counters.Tally;
import org.hghca.provider.object.AbstractCompletionQueue;
import org.hghca.provider.queue.CompletionSizes;
import org.hghca.provider.queue.SpinLock;
import org.hghca.provider.srq.Due;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.VfioException;

/**
 * A completion queue. Its ring has room for all requests that the attached queues can have
 * outstanding, because the card has no consumer index; a request counts until its completion is
 * polled. {@link CompletionRing} is the memory that the card writes, {@link CompletionParser}
 * completes requests from it, {@link CompletionNotifier} notifies the completion channel.
 */
final class HghcaCompletionQueue extends AbstractCompletionQueue implements WatchedQueue {
  private final HghcaDevice device;
  private final Card card;
  private final int number;
  private final IcmRange icm;
  private final Ring memory;
  private final CompletionRing ring;
  private final CompletionParser parser;
  private final FlushingQueuePairs flushing;
  private final CompletionNotifier notifier;

  /** Of a count of polls that found nothing: where it is 0 a device in software gets the thread. */
  private final int idleMask;

  /** Whether the last poll found nothing; a hint. */
  private boolean idle;

  /** Polls without the lock that found nothing; a hint. */
  private int emptyPolls;

  /** For {@link CardFamily#freeCompletionQueue}; known when the card has released the queue. */
  private int end;

  /** Whether completions of closed queue pairs may still arrive, as a state flow has said. */
  private volatile boolean quarantined;

  HghcaCompletionQueue(DeviceContext context, CompletionQueueConfig config) {
    super(context, config);
    this.device = context.hghca();
    this.card = device.card();
    this.idleMask = card.function().idleEvery() - 1;
    try (Undo undo = new Undo()) {
      undo.add(this::abandon);
      checkEntries(config.entries());
      int eqn = device.events().completionEqn(config.vector());
      int slots = ringEntries(config);
      this.number = device.cqNumbers().allocate(slot -> slot < slots);
      undo.add(() -> device.cqNumbers().free(number));
      this.icm = card.icm().reserve(IcmTable.CQC, number, 1);
      undo.add(icm::close);
      this.memory = context.completionRings().ring((long) slots * Cqe.SIZE);
      undo.add(memory::close);
      int first = device.cqNumbers().position(number).orElse(0);
      this.ring = new CompletionRing(card.trace(), number, memory.segment(), slots, first);
      this.flushing = new FlushingQueuePairs(ring);
      this.parser = device.family().parser(describe(), ring, lock);
      undo.add(this::closeParser);
      this.notifier =
          new CompletionNotifier(
              number, parser, flushing, context.uar(), device.events().hasEventQueues());
      card.commands().sw2hwCq(number, cqc(context, slots, eqn));
      device.objects().addCompletionQueue(number, this);
      finish(slots);
      undo.forget();
    } catch (RuntimeException e) {
      throw Failures.of("cannot create a completion queue", e);
    }
  }

  private CompletionQueueContext cqc(DeviceContext context, int slots, int eqn) {
    return new CompletionQueueContext(
        0,
        memory.offset(),
        Integer.numberOfTrailingZeros(slots),
        context.uar().index(),
        eqn,
        context.queuePd(),
        memory.key(),
        number);
  }

  private void checkEntries(int wanted) {
    CompletionSizes.checkEntries(wanted, card.limits().maxCqEntries());
  }

  /**
   * The size of the ring: as requested by its creator, or as its entries need, doubled if each
   * queue pair adds an element of the driver.
   */
  private int ringEntries(CompletionQueueConfig config) {
    Limits limits = card.limits();
    int factor = limits.ownElements() == 0 ? 1 : 2;
    if (config.ringEntries() == 0) {
      return CompletionSizes.usualRing(factor * config.entries(), limits.maxCqRing());
    }
    CompletionSizes.checkRing(config, limits.maxCqEntries());
    return factor * config.ringEntries();
  }

  @Override
  public int number() {
    return number;
  }

  CompletionParser parser() {
    return parser;
  }

  CompletionRing completions() {
    return ring;
  }

  /** The memory that the card writes. */
  Ring memory() {
    return memory;
  }

  @Override
  protected String standing() {
    return standing(ring.slots(), ring.index());
  }

  // ---- polling

  @Override
  public int poll(Completions out, int max) {
    checkMax(max);
    try {
      return pollRing(out, max);
    } catch (InternalError | VfioException e) { // of a doorbell for what waited for completions
      throw new VerbsException(Errno.EIO, card.faulted(e));
    }
  }

  private int pollRing(Completions out, int max) {
    // A poll that found completions looks for more at once; one that found none looks without the
    // lock.
    if (idle && isEmpty()) {
      checkAlive();
      if ((++emptyPolls & idleMask) == 0) {
        card.function().idle();
      }
      return 0;
    }
    // Read before the lock, whose instruction delays all later loads.
    CompletionParser parser = this.parser;
    SpinLock lock = this.lock;
    int most = Math.min(max, out.capacity());
    int count;
    Due found;
    lock.lock();
    try {
      checkAlive();
      count = parser.drain(out, most);
      if (count < most && flushing.any()) {
        count = flushing.complete(out, count, most, parser.failures());
      }
      found = parser.takeDue();
      idle = count == 0;
    } finally {
      lock.unlock();
    }
    serve(found);
    return count;
  }

  private boolean isEmpty() {
    try {
      return ring.isEmpty() && !flushing.any();
    } catch (IllegalStateException e) {
      checkOpen(); // the memory of a closed queue ends with its device
      throw e;
    }
  }

  /** Notifies who waits for completed requests. Without the lock. */
  private static void serve(Due found) {
    if (found != null) {
      Due.serveAll(found);
    }
  }

  @Override
  public void resize(int wanted) {
    checkEntries(wanted);
    lock.lock();
    try {
      checkAlive();
      int unpolled = ring.unpolled();
      if (wanted < unpolled) {
        throw new VerbsException(
            Errno.EINVAL,
            "%s holds %d completions that were not polled, more than %d"
                .formatted(describe(), unpolled, wanted));
      }
      if (wanted > ring.slots()) {
        throw new VerbsException(
            Errno.EINVAL,
            "%s was created with a ring of %d entries: withRingEntries makes a larger one"
                .formatted(describe(), ring.slots()));
      }
      entries(wanted);
    } finally {
      lock.unlock();
    }
  }

  // ---- notification

  @Override
  public void raise(AsyncEventType type) {
    context().raise(type, this);
  }

  @Override
  public void requestNotify(boolean solicitedOnly) {
    checkChannel();
    if (solicitedOnly && !device.events().hasEventQueues()) {
      throw new VerbsException(
          Errno.EOPNOTSUPP,
          "%s has no event queues: nothing reports which receives are solicited"
              .formatted(context().describe()));
    }
    lock.lock();
    try {
      checkAlive(); // under the lock, so that a closed queue is not armed
      notifier.arm(solicitedOnly);
    } catch (InternalError | VfioException e) {
      throw new VerbsException(Errno.EIO, card.faulted(e));
    } finally {
      lock.unlock();
    }
    device.events().requested(this);
    card.health().check(); // the card may not have got it
  }

  @Override
  public boolean hasWaiting() {
    lock.lock();
    try {
      return !isClosed() && notifier.hasPollable();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean isArmedForAll() {
    return notifier.isArmedForAll();
  }

  @Override
  public Look look(boolean event) {
    Look look = Look.NOT_ARMED;
    Due found = null;
    lock.lock();
    try {
      if (!isClosed()) {
        look = notifier.look(event);
        found = parser.takeDue();
      }
    } finally {
      lock.unlock();
    }
    serve(found);
    if (look == Look.TELL) {
      notifyChannel();
    }
    return look;
  }

  /** A queue pair in error has requests that the driver completes. */
  void addFlushing(DriverFlush flush) {
    Look look;
    Due found;
    lock.lock();
    try {
      flushing.add(flush);
      look = notifier.lookAtFlushed();
      found = parser.takeDue();
    } finally {
      lock.unlock();
    }
    serve(found);
    if (look == Look.TELL) {
      notifyChannel();
    }
  }

  // ---- outstanding work

  /**
   * Drops the remaining completions of a queue pair. They are removed from the ring and those of
   * others are moved up, so that its reserved entries are free at once. The card must have finished
   * with the queue pair; it does not track our read position.
   *
   * @param then runs under the same lock
   */
  void drop(QueuePairRings qp, Runnable then) {
    lock.lock();
    try {
      parser.drop(qp);
      flushing.remove(qp.errors().flush());
      then.run();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Reports the unpolled receives in the ring, except those that it has reported before. Only where
   * queue pairs share receives.
   */
  @Override
  public void noteReceives() {
    if (isEmpty()) {
      return;
    }
    lock.lock();
    try {
      parser.noteReceives();
    } finally {
      lock.unlock();
    }
  }

  // ---- life cycle

  /** As {@link HghcaQueuePair#quarantineCompletions} says. */
  void quarantine() {
    quarantined = true;
  }

  @Override
  public void addTo(Tally sum) {
    sum.addCompletions(taken(), parser.failures());
  }

  /** Other threads use it under the lock. */
  private void closeParser() {
    lock.lock();
    parser.close();
    lock.unlock();
  }

  private long taken() {
    return ring.taken() + flushing.given();
  }

  @Override
  protected void stop() {
    // A poll in progress ends first; a later one finds the queue closed.
    closeParser();
    device.objects().removeCompletionQueue(number);
  }

  @Override
  protected void destroy() {
    card.commands().hw2swCq(number);
    // Events of this queue must not be mistaken for those of the next one with its number.
    device.events().deliverAll();
    checkNotQuarantined();
    end = ring.end() & ring.slots() - 1;
  }

  @Override
  protected void freeMemory() {
    memory.close();
  }

  @Override
  protected void freeNumber() {
    icm.close();
    device.family().freeCompletionQueue(number, end, taken() != 0);
  }

  /** Memory that the card may write to is not freed. */
  private void checkNotQuarantined() {
    if (quarantined) {
      device.cqNumbers().retire(number);
      throw new VerbsException(
          Errno.EIO, "the card may still write completions to %s".formatted(describe()));
    }
  }
}
