package org.hghca.virtio.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.ArrayDeque;
import org.hghca.provider.Undo;
import org.hghca.provider.counters.Tally;
import org.hghca.provider.object.AbstractCompletionQueue;
import org.hghca.provider.queue.CompletionSizes;
import org.hghca.provider.srq.Due;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.direct.RingMemory;
import org.hghca.vfio.trace.DeviceTrace;
import org.hghca.virtio.VirtioException;
import org.hghca.virtio.Virtqueue;
import org.hghca.virtio.abi.roce.CompletionEntry;
import org.hghca.virtio.abi.roce.CompletionStatus;
import org.hghca.virtio.abi.roce.RequestNotify;
import org.hghca.virtio.abi.roce.RoceCommand;

/**
 * A completion queue. Its virtqueue holds buffers for entries; each goes back to the device before
 * the request is free whose completion it held. It has room for all requests that the attached
 * queues can have outstanding, since a device without a buffer loses the completion.
 */
final class RoceCompletionQueue extends AbstractCompletionQueue implements EventThread.Armed {
  private static final int FLUSHED = WcStatus.WR_FLUSH_ERR.code();

  private final RoceDevice device;
  private final int number;
  private final int interrupt;
  private final CompletionEntries entries;
  private final MemorySegment slots;

  /** Null if the device is not traced. */
  private final DeviceTrace trace;

  /** Entries that were taken from the device to drop others; they precede those of the device. */
  private final ArrayDeque<MemorySegment> taken = new ArrayDeque<>();

  /** The offers when the first entry will be taken that was not reported. */
  private int noted;

  /** Where the entries end that were taken from the device and may be solicited. */
  private int solicitedTo;

  /** Shares of queue pairs with completions, until their shared receive queue hears of them. */
  private Due due;

  /** Whether there were queue pairs with shared receives that complete here. */
  private volatile boolean sharesReceives;

  /** What is armed, a mask of {@link RequestNotify}; guarded by {@link #arming}. */
  private int armed;

  /** Where the entries begin that it is armed for if they may be solicited; as {@link #anyFrom}. */
  private int solicitedFrom;

  /** Where the entries begin that it is armed for whatever they are, of those {@link #written}. */
  private int anyFrom;

  private final Object arming = new Object();
  private final int idleMask;
  private int emptyPolls;
  private long polled;
  private final long[] failures = new long[WcStatus.values().length];

  RoceCompletionQueue(RoceContext context, CompletionQueueConfig config) {
    super(context, config);
    this.device = context.roce();
    this.idleMask = device.function().idleEvery() - 1;
    this.trace = device.function().trace().orElse(null);
    try (Undo undo = new Undo()) {
      undo.add(this::abandon);
      int wanted = ringEntries(config);
      this.interrupt = device.events().interrupt(config.vector());
      Numbers.Completions created = device.numbers().createCompletions(wanted, interrupt);
      this.number = created.number();
      undo.add(() -> device.numbers().destroyCompletions(number));
      int size = created.queue().size();
      if (size < Math.max(config.entries(), config.ringEntries())) {
        throw new VerbsException(
            Errno.EINVAL,
            "%s has a ring of %d entries, which is all that the device has for it"
                .formatted(describe(), size));
      }
      noted = Math.min(wanted, size);
      this.entries = new CompletionEntries(device.function(), created.queue(), noted);
      undo.add(entries::close);
      this.slots = entries.bytes();
      entries.kick();
      finish(noted);
      undo.forget();
    } catch (RuntimeException e) {
      throw Refusals.of("cannot create a completion queue", e);
    }
  }

  private int ringEntries(CompletionQueueConfig config) {
    int most = device.limits().maxCqe();
    CompletionSizes.checkEntries(config.entries(), most);
    int vectors = device.events().completionVectors();
    if (config.vector() < 0 || config.vector() >= vectors) {
      throw new VerbsException(
          Errno.EINVAL,
          "completion vector %d: the device has 0 to %d".formatted(config.vector(), vectors - 1));
    }
    if (config.ringEntries() == 0) {
      return CompletionSizes.usualRing(config.entries(), Integer.highestOneBit(most));
    }
    CompletionSizes.checkRing(config, most);
    return config.ringEntries();
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public int interrupt() {
    return interrupt;
  }

  @Override
  protected String standing() {
    return standing(entries.size(), entries.offers());
  }

  // ---- polling

  @Override
  public int poll(Completions out, int max) {
    checkMax(max);
    int most = Math.min(max, out.capacity());
    int count;
    Due found;
    lock.lock();
    try {
      checkAlive();
      count = drain(out, most);
      polled += count;
      found = due;
      due = null;
    } catch (VirtioException | VfioException | InternalError e) {
      throw failed(e);
    } finally {
      lock.unlock();
    }
    if (found != null) {
      Due.serveAll(found);
    }
    if (count == 0 && (++emptyPolls & idleMask) == 0) {
      device.function().idle();
    }
    return count;
  }

  private int drain(Completions out, int most) {
    int count = 0;
    while (count < most && !taken.isEmpty()) {
      count = completeTaken(out, count);
    }
    CompletionEntries entries = this.entries;
    int before = entries.offers();
    while (count < most) {
      int slot = entries.poll();
      if (slot == Virtqueue.NONE) {
        break;
      }
      checkLength();
      count = complete(entries.entry(slot), slot, out, count);
    }
    if (entries.offers() != before) {
      entries.kick();
    }
    return count;
  }

  private void checkLength() {
    if (entries.length() != CompletionEntry.SIZE) {
      throw broken("wrote a completion of %d bytes".formatted(entries.length()));
    }
  }

  /** As {@link #complete}, of the first entry that was taken from the device. */
  private int completeTaken(Completions out, int count) {
    MemorySegment copy = taken.removeFirst();
    try {
      return complete(RingMemory.guarded(copy).at(0), Virtqueue.NONE, out, count);
    } finally {
      Reference.reachabilityFence(copy);
    }
  }

  /**
   * Completes the request of an entry. Under the lock of an open queue: a close waits for that
   * before it frees the buffers.
   *
   * @param at the entry, in {@link RingMemory#guardedSegment}
   * @param slot of the buffer with the entry, which goes back to the device; {@link Virtqueue#NONE}
   *     of a copy
   * @return the index of the next completion: the same if the program sees none
   */
  private int complete(long at, int slot, Completions out, int count) {
    MemorySegment from = RingMemory.guardedSegment();
    long cookie = CompletionEntry.WR_ID.getLong(from, at);
    boolean isReceive = WorkQueue.isReceive(cookie);
    RoceQueuePair qp = queuePair(CompletionEntry.QPN.get(from, at), isReceive);
    WorkQueue work = isReceive ? qp.receives() : qp.sends();
    if (!work.isOutstanding(cookie)) {
      throw broken("completes request 0x%x of %s twice".formatted(cookie, qp.describe()));
    }
    long result = CompletionEntry.result(from, at);
    if (trace != null) {
      CompletionRecord.record(trace, number, isReceive, work.wrId(cookie), at);
    }
    boolean failed = CompletionEntry.status(result) != CompletionStatus.SUCCESS;
    if (failed) {
      int status = CompletionCodes.status(CompletionEntry.status(result));
      qp.failed(status, isReceive);
      if (isReceive && status == FLUSHED && qp.sharesReceives()) {
        giveBack(qp, cookie, slot);
        return count;
      }
      failures[status]++;
      if (status != FLUSHED) {
        work.countFailure();
      }
    } else if (isReceive) {
      qp.receives().received(CompletionEntry.BYTE_LENGTH.get(from, at));
    }
    ReportedCompletion.fill(out, count, qp, qp.peer(), isReceive, work.wrId(cookie), result, at);
    entries.offerAgain(slot);
    if (isReceive || failed) {
      solicitedTo = entries.offers();
    }
    work.complete(cookie);
    if (qp.sharesReceives() && (isReceive || failed)) {
      notifyShare(qp);
    }
    return count + 1;
  }

  /** The queue pair of an entry. */
  private RoceQueuePair queuePair(int qpn, boolean isReceive) {
    RoceQueuePair qp = (RoceQueuePair) device.numbers().queuePair(qpn);
    if (qp == null || !qp.completesInto(this, isReceive)) {
      throw broken("completes a request of queue pair %s".formatted(Integer.toUnsignedString(qpn)));
    }
    return qp;
  }

  /** The device has flushed a receive that returns to its shared receive queue. */
  private void giveBack(RoceQueuePair qp, long cookie, int slot) {
    qp.share().flush((int) cookie);
    entries.offerAgain(slot);
    qp.receives().complete(cookie);
    notifyShare(qp);
  }

  /** Last: a thread that already serves the share must see all of it, or is told again. */
  private void notifyShare(RoceQueuePair qp) {
    due = qp.share().due(due);
  }

  private VerbsException broken(String what) {
    String why = "%s %s: the device is broken".formatted(describe(), what);
    device.health().fail(why);
    return new VerbsException(Errno.EIO, why);
  }

  private VerbsException failed(Throwable e) {
    device.health().fail(e.getMessage());
    return new VerbsException(Errno.EIO, e.getMessage(), e);
  }

  /**
   * Drops the completions of a queue pair that were not polled; those of others stay. The device
   * has finished with the queue pair.
   *
   * @param then runs under the same lock
   */
  void drop(RoceQueuePair qp, Runnable then) {
    lock.lock();
    try {
      taken.removeIf(entry -> isOf(qp, entry, 0));
      for (int slot = entries.poll(); slot != Virtqueue.NONE; slot = entries.poll()) {
        long at = CompletionEntries.place(slot);
        boolean solicited = entries.maySolicit(slot);
        if (!isOf(qp, slots, at)) {
          MemorySegment copy = Arena.ofAuto().allocate(CompletionEntry.SIZE);
          note(slots, at);
          taken.add(copy.copyFrom(slots.asSlice(at, CompletionEntry.SIZE)));
        }
        entries.offerAgain(slot);
        if (solicited) {
          solicitedTo = entries.offers();
        }
      }
      entries.kick();
      then.run();
    } catch (VirtioException e) {
      throw failed(e);
    } finally {
      lock.unlock();
    }
  }

  private static boolean isOf(RoceQueuePair qp, MemorySegment from, long at) {
    return CompletionEntry.QPN.get(from, at) == qp.number();
  }

  // ---- shared receives

  /** A queue pair with shared receives completes them here. */
  void shareReceives() {
    sharesReceives = true;
  }

  @Override
  public void noteReceives() {
    lock.lock();
    try {
      if (!isClosed()) {
        noteNew();
      }
    } catch (VirtioException e) {
      throw failed(e);
    } finally {
      lock.unlock();
    }
  }

  private void noteNew() {
    int pending = entries.pending();
    for (int i = Math.max(0, noted - entries.offers()); i < pending; i++) {
      note(slots, CompletionEntries.place(entries.peek(i)));
    }
    noted = entries.offers() + pending;
  }

  /** Tells a share how far the device has come. */
  private void note(MemorySegment from, long at) {
    RoceQueuePair qp = sharer(from, at);
    if (qp != null) {
      qp.share().note((int) CompletionEntry.WR_ID.getLong(from, at) + 1);
    }
  }

  /** The queue pair whose shared receive an entry completes; null if it completes anything else. */
  private RoceQueuePair sharer(MemorySegment from, long at) {
    RoceQueuePair qp =
        (RoceQueuePair) device.numbers().queuePair(CompletionEntry.QPN.get(from, at));
    long cookie = CompletionEntry.WR_ID.getLong(from, at);
    return qp != null
            && qp.sharesReceives()
            && WorkQueue.isReceive(cookie)
            && qp.completesInto(this, true)
            && qp.receives().isOutstanding(cookie)
        ? qp
        : null;
  }

  /** Whether an entry is a receive that returns to its shared receive queue. */
  private boolean isSilent(MemorySegment from, long at) {
    int status = CompletionCodes.status(CompletionEntry.STATUS.get(from, at));
    return status == FLUSHED && sharer(from, at) != null;
  }

  /** Whether a poll would find a completion, after the silent ones before it are taken. */
  private boolean hasPollable() {
    boolean pollable;
    Due found;
    lock.lock();
    try {
      pollable = !isClosed() && takeSilent();
      found = due;
      due = null;
    } catch (VirtioException | VfioException | InternalError e) {
      throw failed(e);
    } finally {
      lock.unlock();
    }
    Due.serveAll(found);
    return pollable;
  }

  private boolean takeSilent() {
    while (!taken.isEmpty()) {
      if (!isSilent(taken.getFirst(), 0)) {
        return true;
      }
      completeTaken(null, 0);
    }
    boolean pollable = false;
    while (!pollable && entries.pending() > 0) {
      int slot = entries.peek(0);
      pollable = !isSilent(slots, CompletionEntries.place(slot));
      if (!pollable) {
        entries.poll();
        checkLength();
        complete(entries.entry(slot), slot, null, 0);
      }
    }
    entries.kick();
    return pollable;
  }

  // ---- resizing

  @Override
  public void resize(int wanted) {
    checkAlive();
    throw new VerbsException(
        Errno.EOPNOTSUPP,
        "%s keeps its %d entries: the device has no command for it; create another one"
            .formatted(describe(), entries()));
  }

  // ---- notification

  /** A command, unless it is armed for as much already. */
  @Override
  public void requestNotify(boolean solicitedOnly) {
    checkChannel();
    if (solicitedOnly && device.events().polls()) {
      throw new VerbsException(
          Errno.EOPNOTSUPP,
          "%s cannot tell which completions were solicited: the driver polls, without interrupts"
              .formatted(describe()));
    }
    int wanted = solicitedOnly ? RequestNotify.SOLICITED : RequestNotify.NEXT_COMPLETION;
    synchronized (arming) {
      checkAlive(); // under the monitor, so that a closed queue is not armed
      if (armed >= wanted) {
        return;
      }
      int before = armed;
      // Before the device is armed: an entry that comes until then may be taken for one after it.
      anyFrom = written();
      if (armed == 0) {
        solicitedFrom = anyFrom;
      }
      armed = wanted;
      device.events().watch(this);
      try {
        arm(wanted);
      } catch (RuntimeException e) {
        armed = before;
        throw e;
      }
    }
  }

  private void arm(int flags) {
    if (device.events().polls()) {
      return;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = arena.allocate(RequestNotify.SIZE);
      RequestNotify.CQN.set(data, 0, number);
      RequestNotify.FLAGS.set(data, 0, flags);
      device
          .commands()
          .give(RoceCommand.REQ_NOTIFY_CQ, data, Errno.EIO, "to notify of " + describe());
    }
  }

  private int written() {
    lock.lock();
    try {
      return entries.written();
    } finally {
      lock.unlock();
    }
  }

  /** Whether there has been an entry that it is armed for, polled or not. */
  private boolean hasCome() {
    lock.lock();
    try {
      int pending = entries.pending();
      int offers = entries.offers();
      if (armed == RequestNotify.NEXT_COMPLETION && offers + pending != anyFrom) {
        return true;
      }
      boolean come = solicitedTo - solicitedFrom > 0;
      for (int i = Math.max(0, solicitedFrom - offers); i < pending && !come; i++) {
        come = entries.maySolicit(entries.peek(i));
      }
      return come;
    } finally {
      lock.unlock();
    }
  }

  /**
   * An interrupt of its vector, which queues may share, or a look without interrupts: its channel
   * is told once for each arming, when there has been what it is armed for.
   */
  @Override
  public void look() {
    synchronized (arming) {
      if (armed == 0 || isClosed() || !hasCome() || sharesReceives && staysArmed()) {
        return;
      }
      armed = 0;
      device.events().forget(this);
    }
    notifyChannel();
  }

  /** Whether there is nothing for the program after all: it is armed once more then. */
  private boolean staysArmed() {
    if (hasPollable()) {
      return false;
    }
    anyFrom = written();
    solicitedFrom = anyFrom;
    arm(armed);
    return !hasPollable(); // what came before the device was armed raises no interrupt
  }

  // ---- life cycle

  @Override
  public void addTo(Tally sum) {
    sum.addCompletions(polled, failures);
  }

  @Override
  protected void stop() {
    // A poll in progress ends first; a later one finds the queue closed.
    lock.lock();
    lock.unlock();
    synchronized (arming) {
      armed = 0;
      device.events().forget(this);
    }
  }

  @Override
  protected void destroy() {
    device.numbers().destroyCompletions(number);
  }

  @Override
  protected void freeMemory() {
    entries.close();
  }
}
