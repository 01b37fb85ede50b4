package org.hghca.driver.object;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hghca.driver.card.Limits;
import org.hghca.driver.ring.ReceiveRing;
import org.hghca.provider.ContextCounters;
import org.hghca.provider.Health;
import org.hghca.provider.Resource;
import org.hghca.provider.SpinLock;
import org.hghca.provider.Undo;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.SharedReceiveQueueConfig;
import org.hghca.verbs.VerbsException;

/**
 * A shared receive queue. The card implements it, if it announces that; otherwise the driver
 * distributes its requests to the receive queues of the queue pairs. One of the two is selected at
 * creation.
 */
abstract sealed class HghcaSharedReceiveQueue extends Resource
    implements SharedReceiveQueue, ContextCounters.Counted permits HardwareSrq, SoftwareSrq {
  final HghcaProtectionDomain pd;
  private final Health health;
  private final Limits limits;
  private final int maxSge;

  /**
   * Number of queue pairs that use each completion queue; guarded by the monitor, as resizing is.
   */
  private final Map<HghcaCompletionQueue, Integer> completionQueues = new LinkedHashMap<>();

  HghcaSharedReceiveQueue(HghcaProtectionDomain pd, SharedReceiveQueueConfig config) {
    super(pd);
    this.pd = pd;
    this.health = pd.device().card().health();
    this.limits = pd.device().card().limits();
    this.maxSge = config.maxSge();
  }

  static HghcaSharedReceiveQueue of(HghcaProtectionDomain pd, SharedReceiveQueueConfig config) {
    return pd.device().sharesReceives() ? new HardwareSrq(pd, config) : new SoftwareSrq(pd, config);
  }

  /** Checks that the device supports a queue of this config. */
  final void check(SharedReceiveQueueConfig config) {
    check("a capacity", config.capacity(), 1, limits.maxSrqWr());
    check("maxSge", maxSge, 0, limits.maxSrqSge());
    check("a limit", config.limit(), 0, config.capacity());
  }

  static void check(String what, int value, int least, int most) {
    if (value < least || value > most) {
      throw new VerbsException(
          Errno.EINVAL,
          "%s of %d for a shared receive queue: must be between %d and %d"
              .formatted(what, value, least, most));
    }
  }

  @Override
  public String describe() {
    return "the shared receive queue of %d elements per request".formatted(maxSge);
  }

  @Override
  protected String standing() {
    return "capacity %d, limit %d".formatted(capacity(), limit());
  }

  @Override
  public ProtectionDomain protectionDomain() {
    return pd;
  }

  @Override
  public int maxSge() {
    return maxSge;
  }

  // ---- posting

  /** Checks that a request is acceptable. */
  final void check(ReceiveRequest request, int index) {
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
  }

  private BadRequestException refusal(int index) {
    return health
        .complaint()
        .map(fatal -> new BadRequestException(Errno.EIO, index, fatal))
        .orElseGet(
            () ->
                new BadRequestException(Errno.EINVAL, index, "the shared receive queue is closed"));
  }

  // ---- queue pairs

  /** The capabilities that the rings of a queue pair must have. */
  abstract QueuePairCapabilities rings(QueuePairCapabilities c);

  /** The receive lock of a new queue pair. */
  abstract SpinLock receiveLock();

  /**
   * The part of a queue pair.
   *
   * @param ring the queue pair's own ring, with the required capabilities
   */
  abstract SharedReceiver receiver(HghcaQueuePair qp, ReceiveRing ring);

  /**
   * A queue pair will receive into a completion queue. Independent of their number, there are never
   * more receive completions than requests: room for them is reserved once.
   *
   * @throws VerbsException ENOMEM when the completion queue has no room
   */
  final synchronized void reserve(HghcaCompletionQueue cq) {
    if (!completionQueues.containsKey(cq)) {
      cq.reserve(capacity());
    }
    completionQueues.merge(cq, 1, Integer::sum);
  }

  final synchronized void unreserve(HghcaCompletionQueue cq) {
    if (completionQueues.merge(cq, -1, Integer::sum) == 0) {
      completionQueues.remove(cq);
      cq.unreserve(capacity());
    }
  }

  /** Makes the completion queues report unpolled receives. */
  final void noteReceives() {
    List<HghcaCompletionQueue> used;
    synchronized (this) {
      used = List.copyOf(completionQueues.keySet());
    }
    used.forEach(HghcaCompletionQueue::noteReceives);
  }

  // ---- modifying

  final void checkAlive() {
    checkOpen();
    health.check();
  }

  @Override
  public final synchronized void resize(int wanted) {
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

  /** Changes the capacity to a valid value; under the monitor. */
  abstract void setCapacity(int wanted);

  static VerbsException tooSmall(int wanted, int outstanding, int limit) {
    return new VerbsException(
        Errno.EINVAL,
        "a capacity of %d for a shared receive queue with %d requests and a limit of %d"
            .formatted(wanted, outstanding, limit));
  }
}
