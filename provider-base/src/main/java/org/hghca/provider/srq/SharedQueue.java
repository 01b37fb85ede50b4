package org.hghca.provider.srq;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.hghca.provider.Resource;
import org.hghca.provider.Undo;
import org.hghca.provider.counters.ContextCounters;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.SharedReceiveQueueConfig;
import org.hghca.verbs.VerbsException;

/**
 * A shared receive queue, of the device or dealt by the driver: its checks, its room in completion
 * queues, and its resizing.
 */
public abstract class SharedQueue extends Resource
    implements SharedReceiveQueue, ContextCounters.Counted {
  private final ProtectionDomain pd;
  private final SharingContext context;
  private final int maxSge;

  /**
   * Number of queue pairs that use each completion queue; guarded by the monitor, as resizing is.
   */
  private final Map<SharedCompletions, Integer> completionQueues = new LinkedHashMap<>();

  /** A queue that is not complete: the constructor of a kind checks the config and publishes it. */
  protected <D extends Resource & ProtectionDomain> SharedQueue(
      D pd, SharingContext context, SharedReceiveQueueConfig config) {
    super(pd);
    this.pd = pd;
    this.context = context;
    this.maxSge = config.maxSge();
  }

  /**
   * The shared receive queue that a queue pair is to use; empty if it has its own receives.
   *
   * @param pd of the queue pair
   * @throws VerbsException EINVAL when the queue belongs to another protection domain
   */
  public static <D extends Resource & ProtectionDomain> Optional<SharedQueue> of(
      QueuePairConfig config, D pd) {
    return config
        .sharedReceiveQueue()
        .map(
            queue -> {
              if (queue instanceof SharedQueue ours && ours.pd.equals(pd)) {
                return ours;
              }
              throw new VerbsException(
                  Errno.EINVAL,
                  "the shared receive queue belongs to another protection domain than %s"
                      .formatted(pd.describe()));
            });
  }

  /** Checks that the device supports a queue of this config. */
  protected final void check(SharedReceiveQueueConfig config) {
    check("a capacity", config.capacity(), 1, context.maxSrqWr());
    check("maxSge", maxSge, 0, context.maxSrqSge());
    check("a limit", config.limit(), 0, config.capacity());
  }

  protected static void check(String what, int value, int least, int most) {
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
  protected final void check(ReceiveRequest request, int index) {
    if (isClosed() || context.health().isDead()) {
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
    return context
        .health()
        .complaint()
        .map(fatal -> new BadRequestException(Errno.EIO, index, fatal))
        .orElseGet(
            () ->
                new BadRequestException(Errno.EINVAL, index, "the shared receive queue is closed"));
  }

  // ---- queue pairs

  /**
   * A queue pair will receive into a completion queue. Independent of their number, there are never
   * more receive completions than requests: room for them is reserved once.
   *
   * @throws VerbsException ENOMEM when the completion queue has no room
   */
  public final synchronized void reserve(SharedCompletions cq) {
    if (!completionQueues.containsKey(cq)) {
      cq.reserve(capacity());
    }
    completionQueues.merge(cq, 1, Integer::sum);
  }

  /** A queue pair is gone that received into a completion queue. */
  public final synchronized void unreserve(SharedCompletions cq) {
    if (completionQueues.merge(cq, -1, Integer::sum) == 0) {
      completionQueues.remove(cq);
      cq.unreserve(capacity());
    }
  }

  /** Makes the completion queues report unpolled receives. */
  final void noteReceives() {
    List<SharedCompletions> used;
    synchronized (this) {
      used = List.copyOf(completionQueues.keySet());
    }
    used.forEach(SharedCompletions::noteReceives);
  }

  // ---- modifying

  protected final void checkAlive() {
    checkOpen();
    context.health().check();
  }

  @Override
  public final synchronized void resize(int wanted) {
    checkAlive();
    check("a capacity", wanted, 1, context.maxSrqWr());
    int more = wanted - capacity();
    try (Undo undo = new Undo()) {
      if (more > 0) {
        for (SharedCompletions cq : completionQueues.keySet()) {
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
  protected abstract void setCapacity(int wanted);

  protected static VerbsException tooSmall(int wanted, int outstanding, int limit) {
    return new VerbsException(
        Errno.EINVAL,
        "a capacity of %d for a shared receive queue with %d requests and a limit of %d"
            .formatted(wanted, outstanding, limit));
  }
}
