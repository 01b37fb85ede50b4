package org.hghca.provider.object;

import java.util.Optional;
import java.util.stream.Stream;
import org.hghca.provider.Health;
import org.hghca.provider.Resource;
import org.hghca.provider.Undo;
import org.hghca.provider.counters.Tally;
import org.hghca.provider.snapshot.Kind;
import org.hghca.provider.snapshot.Published;
import org.hghca.provider.snapshot.Snapshot.Subject;
import org.hghca.provider.srq.SharedQueue;
import org.hghca.provider.srq.SharedReceives;
import org.hghca.provider.srq.SharingQueuePair;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Counter;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttribute;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.spi.QpTransitions;

/**
 * A queue pair of any driver: what it uses, its reservations, the checks of its verbs and its end.
 * A subclass posts, so that a post is one call.
 *
 * @param <C> its completion queues
 */
public abstract class AbstractQueuePair<C extends AbstractCompletionQueue> extends Resource
    implements SharingQueuePair, Published {
  private final AbstractProtectionDomain pd;
  private final AbstractContext context;
  private final Health health;
  private final QpType type;
  private final boolean isGsi;
  private final C sendCompletionQueue;
  private final C receiveCompletionQueue;

  /** Null for a queue pair with its own receives. */
  private final SharedQueue shared;

  private final QueuePairCapabilities capabilities;

  /** What is reserved in the completion queue of its sends. */
  private int reservedSends;

  /** How often it was connected; changed under the monitor. */
  private long connectionsMade;

  /** The queue pair that it is, or was, connected to. */
  private volatile Peer peer = Peer.NONE;

  /**
   * The other end of a connection.
   *
   * @param address as text: snapshots ask for it again and again
   */
  private record Peer(String address, int number) {
    private static final Peer NONE = new Peer("", 0);

    private static Peer of(Gid gid, int number) {
      return new Peer(gid.address().getHostAddress(), number);
    }
  }

  /**
   * A queue pair that is not complete.
   *
   * @param queues the driver's class of completion queues
   * @throws VerbsException EINVAL for a completion queue of another context, or a shared receive
   *     queue of another protection domain
   */
  protected AbstractQueuePair(
      AbstractProtectionDomain pd, QueuePairConfig config, Class<C> queues) {
    C sends = own(pd, config.sendCompletionQueue(), queues);
    C receives = own(pd, config.receiveCompletionQueue(), queues);
    Optional<SharedQueue> shared = SharedQueue.of(config, pd);
    super(Stream.concat(Stream.of(pd, sends, receives), shared.stream()).toArray(Resource[]::new));
    this.pd = pd;
    this.context = pd.context();
    this.health = context.health();
    this.type = config.type();
    this.isGsi = config.isGsi();
    this.sendCompletionQueue = sends;
    this.receiveCompletionQueue = receives;
    this.shared = shared.orElse(null);
    QueuePairCapabilities own = config.capabilities();
    this.capabilities =
        shared.isEmpty()
            ? own
            : new QueuePairCapabilities(own.sendDepth(), 0, own.maxSendSge(), 0, own.maxInline());
  }

  private static <C extends AbstractCompletionQueue> C own(
      AbstractProtectionDomain pd, CompletionQueue queue, Class<C> queues) {
    if (queues.isInstance(queue) && queue.context().equals(pd.context())) {
      return queues.cast(queue);
    }
    throw new VerbsException(
        Errno.EINVAL,
        "the completion queue belongs to another context than %s".formatted(pd.describe()));
  }

  /**
   * Reserves room in its completion queues for all requests that it can have outstanding.
   *
   * @param sends number of sends, the driver's own elements among them
   * @throws VerbsException ENOMEM when there is less
   */
  protected final void reserve(int sends, Undo undo) {
    reservedSends = sends;
    sendCompletionQueue.reserve(sends);
    undo.add(() -> sendCompletionQueue.unreserve(sends));
    receiveCompletionQueue.reserve(capabilities.receiveDepth());
    undo.add(() -> receiveCompletionQueue.unreserve(capabilities.receiveDepth()));
    if (shared != null) {
      shared.reserve(receiveCompletionQueue);
      undo.add(() -> shared.unreserve(receiveCompletionQueue));
    }
  }

  private void unreserve() {
    sendCompletionQueue.unreserve(reservedSends);
    receiveCompletionQueue.unreserve(capabilities.receiveDepth());
    if (shared != null) {
      shared.unreserve(receiveCompletionQueue);
    }
  }

  /** Completes it, the last step of a construction. */
  protected final void finish() {
    context.count(this);
    if (share() != null) {
      share().join();
    }
    publish();
  }

  /** The exception for a second queue pair of the general services. */
  protected static VerbsException gsiInUse() {
    return new VerbsException(
        Errno.EBUSY,
        "queue pair 1, of the general services, is in use: each port has one, close it first");
  }

  /** Its part of the shared receive queue; null for a queue pair with its own receives. */
  protected abstract SharedReceives share();

  @Override
  public final String describe() {
    return "QP 0x%06x".formatted(number());
  }

  /** Its state, with those of its sends and receives. */
  protected final String standing(String sends, String receives) {
    String receiving = shared == null ? receives : "of " + shared.describe();
    return "%s in %s, sends %s, receives %s".formatted(type, state(), sends, receiving);
  }

  @Override
  public final ProtectionDomain protectionDomain() {
    return pd;
  }

  @Override
  public final QpType type() {
    return type;
  }

  /** Whether it is the queue pair of the general services. */
  protected final boolean isGsi() {
    return isGsi;
  }

  @Override
  public final QueuePairCapabilities capabilities() {
    return capabilities;
  }

  @Override
  public final C sendCompletionQueue() {
    return sendCompletionQueue;
  }

  @Override
  public final C receiveCompletionQueue() {
    return receiveCompletionQueue;
  }

  @Override
  public final Optional<SharedReceiveQueue> sharedReceiveQueue() {
    return Optional.ofNullable(shared);
  }

  /** Whether its receives are those of a shared receive queue. */
  public final boolean sharesReceives() {
    return shared != null;
  }

  @Override
  public final void raise(AsyncEventType event) {
    context.raise(event, this);
  }

  // ---- checks of posting

  /** The exception for a receive of a queue pair that has none of its own. */
  protected final BadRequestException receivesAreShared() {
    return new BadRequestException(
        Errno.EINVAL,
        0,
        describe() + " takes its receives from a shared receive queue: post them there");
  }

  /**
   * The exception for a request that its state does not take, or its device, which is dead.
   *
   * @param what send or receive
   * @param index in the caller's list
   */
  protected final BadRequestException wrongState(String what, int index) {
    Optional<String> death = health.complaint();
    if (death.isPresent()) {
      return new BadRequestException(Errno.EIO, index, death.get());
    }
    return new BadRequestException(
        Errno.EINVAL,
        index,
        isClosed()
            ? describe() + " is closed"
            : "%s is in %s and takes no %s requests".formatted(describe(), state(), what));
  }

  // ---- states, under the monitor

  /** Checks that it is open, and that its device works. */
  protected final void checkAlive() {
    checkOpen();
    health.check();
  }

  /** Makes a transition that exists, or gives it attributes that it may have in its state. */
  protected abstract void change(QpState from, QpState to, QpAttributes attributes);

  /** Its attributes, and the state that the device is in. */
  protected abstract QpAttributes attributesNow();

  @Override
  public final synchronized void modify(QpAttributes attributes) {
    checkAlive();
    if (attributes.has(QpAttribute.CUR_STATE) && attributes.currentState() != state()) {
      query(); // the caller may know of an unpolled error
    }
    QpState from = state();
    QpState to = QpTransitions.check(type, from, attributes);
    if (from == QpState.RESET && to == QpState.RESET) {
      return;
    }
    if (isGsi && attributes.has(QpAttribute.QKEY) && attributes.qkey() != GSI_QKEY) {
      throw new VerbsException(
          Errno.EINVAL,
          "%s is of the general services, whose Q_Key is 0x%08x, not 0x%08x"
              .formatted(describe(), GSI_QKEY, attributes.qkey()));
    }
    try {
      change(from, to, attributes);
      noteConnection(from, to, attributes);
    } finally {
      notifyShare();
    }
  }

  private void noteConnection(QpState from, QpState to, QpAttributes attributes) {
    if (type == QpType.UD) {
      return;
    }
    if (from == QpState.INIT && to == QpState.RTR) {
      connectionsMade++;
      peer = Peer.of(attributes.addressVector().destination(), attributes.destinationQpn());
    } else if (to == QpState.RESET) {
      peer = Peer.NONE;
    }
  }

  private boolean isConnected() {
    return type != QpType.UD
        && switch (state()) {
          case RTR, RTS, SQD, SQE -> true;
          case RESET, INIT, ERR -> false;
        };
  }

  // ---- counting

  /** Adds what its queues have counted. */
  protected abstract void addWork(Tally sum);

  /** Its requests that have failed and were not flushed, which its completion queues count, too. */
  protected abstract long failures();

  @Override
  public final void addTo(Tally sum) {
    addWork(sum);
    sum.add(Counter.QUEUE_PAIRS, 1);
    sum.add(Counter.CONNECTIONS_MADE, connectionsMade);
    sum.add(Counter.CONNECTIONS, isConnected() ? 1 : 0);
  }

  @Override
  public final void addRow(Tally sum) {
    addTo(sum);
    sum.add(Counter.FAILURES, failures());
  }

  @Override
  public final Kind kind() {
    return Kind.QUEUE_PAIR;
  }

  @Override
  public final Subject subject() {
    Peer other = peer;
    return new Subject(
        kind(),
        context.openingNumber(),
        number(),
        0,
        type.name(),
        state().name(),
        other.address(),
        other.number());
  }

  @Override
  public final synchronized QpAttributes query() {
    checkAlive();
    QpAttributes now = attributesNow();
    notifyShare();
    return now;
  }

  /** Notifies the shared receive queue that its state may have changed. */
  public final void notifyShare() {
    if (share() != null) {
      share().stateChanged();
    }
  }

  // ---- life cycle

  /** Ends posting, between two requests; returns the state until then. */
  protected abstract QpState enterReset();

  /**
   * Makes the device release it, and drops its requests.
   *
   * @param last the state before it was closed
   */
  protected abstract void destroy(QpState last);

  /** Frees its memory, which the device has released. */
  protected abstract void freeMemory();

  /** Frees its number, which the device has released. */
  protected void freeNumber() {}

  @Override
  protected final synchronized void release() {
    QpState last = enterReset();
    if (share() != null) {
      share().leave();
    }
    context.countNoMore(this);
    context.forgetEvents(this);
    context
        .shared()
        .deferredFree()
        .retire(
            describe(),
            () -> destroy(last),
            this::freeMemory,
            () -> {
              unreserve();
              freeNumber();
            });
  }
}
