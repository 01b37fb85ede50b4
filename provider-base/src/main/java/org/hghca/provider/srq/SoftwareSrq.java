package org.hghca.provider.srq;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.hghca.provider.Failures;
import org.hghca.provider.Resource;
import org.hghca.provider.Undo;
import org.hghca.provider.counters.Tally;
import org.hghca.provider.queue.LockRank;
import org.hghca.provider.queue.SpinLock;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.Counter;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SharedReceiveQueueConfig;

/**
 * A shared receive queue over the receive queues of queue pairs, because the device has none.
 * Requests wait here and are distributed to the rings of the queue pairs that use it, as few as
 * each needs: one to an idle queue pair (two if its peers do not retry, and 16 if it is alone),
 * twice the recent consumption to a receiving one. A request in a ring cannot go to another queue
 * pair until its own is reset, closed or in error: it is unknown whether the device has taken it.
 *
 * <p>They are distributed at each post and when polling finds completed ones; while no thread
 * polls, {@link SrqRefill} checks the completion queues.
 *
 * <p>Its lock is also the receive lock of the queue pairs: above that of the completion queues, and
 * never taken under one.
 */
public final class SoftwareSrq extends SharedQueue implements SrqRefill.Dealt {
  private final SharingContext context;
  private final SpinLock lock = new SpinLock(LockRank.RECEIVES);
  private final ReceiveRequest scratch;
  private final SharedRequests requests;
  private final List<ReceiveShare> shares = new ArrayList<>();

  /** Shares that receive and have no requests. */
  private final ShareList starving = new ShareList();

  /** Shares that have some, and may get more. */
  private final ShareList hungry = new ShareList();

  private int limit;

  /** Events that are raised when the lock is free. */
  private boolean limitReached;

  private List<SharingQueuePair> ended = List.of();

  /** Shares whose rings have requests that the device may not see yet; used while dealing. */
  private final List<ReceiveShare> unpublished = new ArrayList<>();

  /** A queue without requests, which no queue pair uses. */
  public <D extends Resource & ProtectionDomain> SoftwareSrq(
      D pd, SharingContext context, SharedReceiveQueueConfig config) {
    super(pd, context, config);
    this.context = context;
    try (Undo undo = new Undo()) {
      undo.add(this::abandon);
      check(config);
      this.scratch = new ReceiveRequest(maxSge());
      this.requests = new SharedRequests(config.capacity(), maxSge());
      this.limit = config.limit();
      context.count(this);
      context.srqRefill().add(this);
      publish();
      undo.forget();
    } catch (RuntimeException e) {
      throw Failures.of("cannot create a shared receive queue", e);
    }
  }

  @Override
  public int capacity() {
    lock.lock();
    try {
      return requests.capacity();
    } finally {
      lock.unlock();
    }
  }

  /** The lock under which its queue pairs change their state. */
  public SpinLock receiveLock() {
    return lock;
  }

  // ---- posting

  @Override
  public boolean tryPostReceive(ReceiveRequest request) {
    lock.lock();
    try {
      boolean posted = add(request, 0);
      deal();
      return posted;
    } finally {
      unlock();
    }
  }

  @Override
  public int tryPostReceive(ReceiveRequest[] list, int from, int count) {
    Objects.checkFromIndexSize(from, count, list.length);
    int posted = 0;
    lock.lock();
    try {
      while (posted < count && add(list[from + posted], posted)) {
        posted++;
      }
      return posted;
    } finally {
      deal();
      unlock();
    }
  }

  private boolean add(ReceiveRequest request, int index) {
    check(request, index);
    if (requests.add(request)) {
      return true;
    }
    // Another thread has polled and may be about to notify us.
    shares.forEach(this::hear);
    return requests.add(request);
  }

  // ---- distribution: all under the lock

  private void deal() {
    while (requests.waiting() > 0) {
      ReceiveShare share;
      if (!starving.isEmpty()) {
        share = starving.removeFirst();
      } else if (!hungry.isEmpty()) {
        share = hungry.removeFirst();
      } else {
        break;
      }
      if (list(share) != null) {
        int number = requests.take();
        requests.copy(number, scratch);
        if (share.deal(number, scratch)) {
          unpublished.add(share);
        }
      }
      place(share);
    }
    for (int i = 0; i < unpublished.size(); i++) {
      unpublished.get(i).publish();
    }
    unpublished.clear();
  }

  /** Moves a share to its current list, if it is not already there. */
  private void place(ReceiveShare share) {
    ShareList list = list(share);
    if (share.list != list) {
      if (share.list != null) {
        share.list.remove(share);
      }
      if (list != null) {
        list.addLast(share);
      }
    }
  }

  /** The list of a share; null if it must not get more. */
  private ShareList list(ReceiveShare share) {
    if (!share.takesRequests()) {
      return null;
    }
    int ready = share.ready();
    if (ready == 0) {
      return starving;
    }
    return ready < share.target(requests.waiting()) ? hungry : null;
  }

  @Override
  public void refill() {
    noteReceives();
    lock.lock();
    try {
      for (ReceiveShare share : shares) {
        share.endPeriod();
        place(share);
      }
      deal();
    } finally {
      unlock();
    }
  }

  // ---- queue pairs

  /** Whether several queue pairs use it. */
  boolean isShared() {
    return shares.size() > 1;
  }

  /** The part of a new queue pair, whose ring has a slot for {@link #maxSge} elements. */
  public ReceiveShare share(SharingQueuePair qp, DealtRing ring) {
    return new ReceiveShare(this, qp, ring);
  }

  /** A queue pair was created. */
  void join(ReceiveShare share) {
    lock.lock();
    try {
      shares.add(share);
      shares.forEach(this::place);
    } finally {
      lock.unlock();
    }
  }

  /** A queue pair is being closed; its requests are returned when the card has finished with it. */
  void leave(ReceiveShare share) {
    lock.lock();
    try {
      shares.remove(share);
      place(share);
      shares.forEach(this::place);
      deal();
    } finally {
      lock.unlock();
    }
  }

  /** The state of a queue pair has changed. */
  void stateChanged(ReceiveShare share) {
    lock.lock();
    try {
      hear(share);
      deal();
    } finally {
      unlock();
    }
  }

  /**
   * Takes back the requests of a queue pair. The device has finished with it.
   *
   * @param drop drops its unpolled completions, then runs its argument under the same lock
   */
  void reclaim(ReceiveShare share, Consumer<Runnable> drop) {
    lock.lock();
    try {
      int before = requests.outstanding();
      drop.accept(() -> share.reclaim(requests));
      place(share);
      checkLimit(before);
      deal();
    } finally {
      unlock();
    }
  }

  /** Polling has found receives: serves our shares at the start of a list; returns the rest. */
  Due serve(ReceiveShare first) {
    Due due = first;
    lock.lock();
    try {
      while (due instanceof ReceiveShare share && share.queue() == this) {
        due = share.removeDue();
        hear(share);
      }
      deal();
      return due;
    } finally {
      unlock();
    }
  }

  /** Records the completions of a share. */
  private void hear(ReceiveShare share) {
    int before = requests.outstanding();
    share.collect(requests);
    share.measure();
    place(share);
    checkLimit(before);
    if (share.ends()) {
      ended = new ArrayList<>(ended);
      ended.add(share.queuePair());
    }
  }

  private void checkLimit(int before) {
    int outstanding = requests.outstanding();
    if (outstanding < before && outstanding < limit) {
      limit = 0;
      limitReached = true;
    }
  }

  /**
   * Releases the lock, then raises events: the thread that takes them may hold a lock that another
   * thread waits for.
   */
  private void unlock() {
    boolean reached = limitReached;
    List<SharingQueuePair> last = ended;
    limitReached = false;
    ended = List.of();
    lock.unlock();
    if (reached) {
      context.raise(AsyncEventType.SRQ_LIMIT_REACHED, this);
    }
    for (SharingQueuePair qp : last) {
      qp.raise(AsyncEventType.QP_LAST_WQE_REACHED);
    }
  }

  // ---- modifying

  @Override
  public void limit(int wanted) {
    checkAlive();
    lock.lock();
    try {
      check("a limit", wanted, 0, requests.capacity());
      shares.forEach(this::hear);
      limitReached |= requests.outstanding() < wanted;
      limit = requests.outstanding() < wanted ? 0 : wanted;
      deal();
    } finally {
      unlock();
    }
  }

  @Override
  public int limit() {
    lock.lock();
    try {
      return limit;
    } finally {
      lock.unlock();
    }
  }

  @Override
  protected void setCapacity(int wanted) {
    lock.lock();
    try {
      shares.forEach(this::hear);
      if (wanted < Math.max(limit, requests.outstanding())) {
        throw tooSmall(wanted, requests.outstanding(), limit);
      }
      requests.resize(wanted);
      shares.forEach(this::place);
      deal();
    } finally {
      unlock();
    }
  }

  @Override
  public void addTo(Tally sum) {
    lock.lock();
    try {
      sum.add(Counter.RECEIVES_POSTED, requests.posted());
    } finally {
      lock.unlock();
    }
  }

  /** Remaining requests are dropped; no queue pair uses it. */
  @Override
  protected void release() {
    context.srqRefill().remove(this);
    context.countNoMore(this);
    context.forgetEvents(this);
  }
}
