package org.hghca.driver;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.SharedReceiveQueueAttributes;
import org.hghca.verbs.VerbsException;

/**
 * A shared receive queue over the receive queues of queue pairs, since the card has none. Requests
 * wait here and are dealt to the rings of the queue pairs that use it, a few to each, one at a time
 * in turn, whenever some are posted and whenever polling finds that some have completed. What a
 * ring holds can no longer go to another queue pair, until its own is reset, closed or in error.
 *
 * <p>So each queue pair holds at most its part of half the capacity; and beyond the first one it
 * gets none while not more than half of the outstanding ones wait here: queue pairs that come later
 * find some left.
 *
 * <p>Its lock is also the receive lock of the queue pairs: above that of the completion queues, and
 * never taken under one.
 */
final class HghcaSharedReceiveQueue extends Resource implements SharedReceiveQueue, Tally.Counted {
  private final HghcaProtectionDomain pd;
  private final Health health;
  private final Limits limits;
  private final int maxSge;
  private final SpinLock lock = new SpinLock();
  private final ReceiveRequest scratch;
  private final SharedRequests requests;
  private final List<ReceiveShare> shares = new ArrayList<>();

  /** Shares that receive and have nothing to receive into. */
  private final ShareList starving = new ShareList();

  /** Shares that have some, and may have more. */
  private final ShareList hungry = new ShareList();

  private int limit;

  /** Events that are raised when the lock is free. */
  private boolean limitReached;

  private List<HghcaQueuePair> ended = List.of();

  /** How many queue pairs use each completion queue; guarded by the monitor, as resizing is. */
  private final Map<HghcaCompletionQueue, Integer> completionQueues = new LinkedHashMap<>();

  HghcaSharedReceiveQueue(HghcaProtectionDomain pd, SharedReceiveQueueAttributes attributes) {
    super(pd);
    this.pd = pd;
    this.health = pd.device().health();
    this.limits = pd.device().limits();
    this.maxSge = attributes.maxSge();
    try (Undo undo = new Undo()) {
      undo.add(this::abandon);
      check("a capacity", attributes.capacity(), 1, limits.maxSrqWr());
      check("maxSge", maxSge, 0, limits.maxSrqSge());
      check("a limit", attributes.limit(), 0, attributes.capacity());
      this.scratch = new ReceiveRequest(maxSge);
      this.requests = new SharedRequests(attributes.capacity(), maxSge);
      this.limit = attributes.limit();
      pd.deviceContext().count(this);
      undo.forget();
    } catch (RuntimeException e) {
      throw Failures.of("cannot create a shared receive queue", e);
    }
  }

  private static void check(String what, int value, int least, int most) {
    if (value < least || value > most) {
      throw new VerbsException(
          Errno.EINVAL,
          "%s of %d for a shared receive queue: possible are %d to %d"
              .formatted(what, value, least, most));
    }
  }

  @Override
  String describe() {
    return "the shared receive queue of %d elements a request".formatted(maxSge);
  }

  @Override
  public ProtectionDomain protectionDomain() {
    return pd;
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

  @Override
  public int maxSge() {
    return maxSge;
  }

  /** Also the receive lock of the queue pairs that use it. */
  SpinLock lock() {
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
    if (isClosed() || health.isDead()) {
      throw refusal(index);
    }
    if (request.sgeCount() > maxSge) {
      throw new BadRequestException(
          Errno.EINVAL,
          index,
          "%d scatter/gather elements: the shared receive queue takes %d"
              .formatted(request.sgeCount(), maxSge));
    }
    if (requests.add(request)) {
      return true;
    }
    // Another thread has polled and may be on its way to tell.
    shares.forEach(this::hear);
    return requests.add(request);
  }

  private BadRequestException refusal(int index) {
    return health
        .complaint()
        .map(death -> new BadRequestException(Errno.EIO, index, death))
        .orElseGet(
            () ->
                new BadRequestException(Errno.EINVAL, index, "the shared receive queue is closed"));
  }

  // ---- dealing: all under the lock

  private void deal() {
    while (requests.waiting() > 0) {
      ReceiveShare share;
      if (!starving.isEmpty()) {
        share = starving.removeFirst();
      } else if (!hungry.isEmpty() && 2 * requests.waiting() > requests.outstanding()) {
        share = hungry.removeFirst();
      } else {
        return;
      }
      if (share.queuePair().takesReceives()) {
        int number = requests.take();
        requests.copy(number, scratch);
        share.deal(number, scratch);
      }
      place(share);
    }
  }

  /** Puts a share into the list where it belongs now; where it is already there, it stays. */
  private void place(ReceiveShare share) {
    ShareList list = null;
    if (share.queuePair().takesReceives()) {
      int held = share.held();
      if (held == 0) {
        list = starving;
      } else if (held < Math.min(share.depth(), quota())) {
        list = hungry;
      }
    }
    if (share.list != list) {
      if (share.list != null) {
        share.list.remove(share);
      }
      if (list != null) {
        list.addLast(share);
      }
    }
  }

  private int quota() {
    return requests.capacity() / (2 * Math.max(1, shares.size()));
  }

  // ---- queue pairs

  /** The capabilities that the rings of a queue pair must have. */
  QueuePairCapabilities rings(QueuePairCapabilities c) {
    int depth = QueueGeometry.shareDepth(limits, capacity(), maxSge);
    return new QueuePairCapabilities(c.sendDepth(), depth, c.maxSendSge(), maxSge, c.maxInline());
  }

  /**
   * A queue pair is to receive into a completion queue. Whatever number of them do, there are never
   * more completions of receives than requests: the room for these is kept once.
   *
   * @throws VerbsException ENOMEM when the completion queue has no room
   */
  synchronized void reserve(HghcaCompletionQueue cq) {
    if (!completionQueues.containsKey(cq)) {
      cq.reserve(capacity());
    }
    completionQueues.merge(cq, 1, Integer::sum);
  }

  synchronized void unreserve(HghcaCompletionQueue cq) {
    if (completionQueues.merge(cq, -1, Integer::sum) == 0) {
      completionQueues.remove(cq);
      cq.unreserve(capacity());
    }
  }

  /** A queue pair has come. */
  void join(ReceiveShare share) {
    lock.lock();
    try {
      shares.add(share);
      shares.forEach(this::place);
    } finally {
      lock.unlock();
    }
  }

  /** A queue pair goes; what it holds is taken back when the card has ended with it. */
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
   * Takes back what a queue pair holds, its unpolled completions dropped. The card has ended with
   * it.
   */
  void takeBack(ReceiveShare share, HghcaCompletionQueue cq) {
    lock.lock();
    try {
      int before = requests.outstanding();
      cq.drop(share.queuePair(), () -> share.takeBack(requests));
      place(share);
      checkLimit(before);
      deal();
    } finally {
      unlock();
    }
  }

  /** Polling has found something of these shares. Callers hold no lock. */
  static void serveAll(ReceiveShare first) {
    ReceiveShare share = first;
    while (share != null) {
      share = share.queue().serve(share);
    }
  }

  /** Serves our shares at the start of a list; returns the rest. */
  private ReceiveShare serve(ReceiveShare first) {
    ReceiveShare share = first;
    lock.lock();
    try {
      while (share != null && share.queue() == this) {
        ReceiveShare rest = share.removeDue();
        hear(share);
        share = rest;
      }
      deal();
      return share;
    } finally {
      unlock();
    }
  }

  /** Takes note of what a share has completed. */
  private void hear(ReceiveShare share) {
    int before = requests.outstanding();
    share.collect(requests);
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

  /** Lets go of the lock, then raises events: whoever takes them may hold what waits for it. */
  private void unlock() {
    boolean reached = limitReached;
    List<HghcaQueuePair> last = ended;
    limitReached = false;
    ended = List.of();
    lock.unlock();
    if (reached) {
      pd.deviceContext().raise(AsyncEventType.SRQ_LIMIT_REACHED, this);
    }
    for (HghcaQueuePair qp : last) {
      pd.deviceContext().raise(AsyncEventType.QP_LAST_WQE_REACHED, qp);
    }
  }

  // ---- modifying

  private void checkAlive() {
    checkOpen();
    health.check();
  }

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
  public synchronized void resize(int wanted) {
    checkAlive();
    check("a capacity", wanted, 1, limits.maxSrqWr());
    int more = wanted - capacity();
    try (Undo undo = new Undo()) {
      if (more > 0) {
        for (HghcaCompletionQueue cq : completionQueues.keySet()) {
          cq.reserve(more);
          undo.add(() -> cq.unreserve(more));
        }
      }
      setCapacity(wanted);
      undo.forget();
    }
    if (more < 0) {
      completionQueues.keySet().forEach(cq -> cq.unreserve(-more));
    }
  }

  private void setCapacity(int wanted) {
    lock.lock();
    try {
      shares.forEach(this::hear);
      if (wanted < Math.max(limit, requests.outstanding())) {
        throw new VerbsException(
            Errno.EINVAL,
            "a capacity of %d for a shared receive queue with %d requests and a limit of %d"
                .formatted(wanted, requests.outstanding(), limit));
      }
      requests.resize(wanted);
      shares.forEach(this::place);
      deal();
    } finally {
      unlock();
    }
  }

  @Override
  public void addTo(Tally tally) {
    lock.lock();
    try {
      tally.add(0, requests.posted(), 0);
    } finally {
      lock.unlock();
    }
  }

  /** Requests that are left are forgotten; no queue pair uses it. */
  @Override
  void release() {
    pd.deviceContext().countNoMore(this);
    pd.deviceContext().forgetEvents(this);
  }
}
