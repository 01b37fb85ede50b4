package org.hghca.driver.object;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.hghca.abi.DeviceExtension;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.QueuePairContext;
import org.hghca.driver.card.Card;
import org.hghca.driver.card.Limits;
import org.hghca.driver.completion.DriverFlush;
import org.hghca.driver.completion.QueuePairRings;
import org.hghca.driver.recovery.ErrorFlow;
import org.hghca.driver.recovery.RecoveredQueuePair;
import org.hghca.driver.ring.QueueGeometry;
import org.hghca.driver.ring.ReceiveRing;
import org.hghca.driver.ring.RingShape;
import org.hghca.driver.ring.SendRing;
import org.hghca.driver.ring.SendWriter;
import org.hghca.driver.state.ContextAttributes;
import org.hghca.driver.state.ProgrammedContext;
import org.hghca.driver.state.QpContexts;
import org.hghca.driver.state.QueuePairState;
import org.hghca.icm.IcmRange;
import org.hghca.icm.IcmTable;
import org.hghca.provider.Failures;
import org.hghca.provider.Resource;
import org.hghca.provider.Undo;
import org.hghca.provider.counters.ContextCounters;
import org.hghca.provider.queue.LockRank;
import org.hghca.provider.queue.OwnerCheck;
import org.hghca.provider.queue.SpinLock;
import org.hghca.provider.srq.SharedQueue;
import org.hghca.provider.srq.SharingQueuePair;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.EndpointExchange;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttribute;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WrapMemory;
import org.hghca.verbs.spi.QpTransitions;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.direct.RingMemory;

/**
 * A queue pair: its parts, posting, and its verbs. Its states are {@link QueuePairState}, {@link
 * ProgrammedContext} and {@link ErrorFlow}.
 */
final class HghcaQueuePair extends Resource
    implements RecoveredQueuePair, SharingQueuePair, ContextCounters.Counted {
  private final HghcaProtectionDomain pd;
  private final HghcaDevice device;
  private final Card card;
  private final QpType type;
  private final HghcaCompletionQueue sendCompletionQueue;
  private final HghcaCompletionQueue receiveCompletionQueue;
  private final QueuePairCapabilities capabilities;

  /** Null for a queue pair for several threads, whose rings have locks. */
  private final OwnerCheck sendOwner;

  private final OwnerCheck receiveOwner;
  private final int number;

  /**
   * Maximum number of sends in the ring, including the driver's own element if the card needs it.
   */
  private final int sendRequests;

  private final IcmRange icm;
  private final QueuePairMemory memory;
  private final SendRing sends;
  private final ReceiveRing receives;
  private final QueuePairRings rings;

  /** Null for a queue pair with its own receives. */
  private final SharedReceiver share;

  private final QueuePairState state;
  private final ProgrammedContext context;
  private final ErrorFlow errorFlow;

  HghcaQueuePair(HghcaProtectionDomain pd, QueuePairConfig config) {
    super(used(pd, config));
    this.pd = pd;
    this.device = pd.device();
    this.card = device.card();
    this.type = config.type();
    Limits limits = card.limits();
    HardwareProfile profile = limits.profile();
    this.sendCompletionQueue = own(pd, config.sendCompletionQueue());
    this.receiveCompletionQueue = own(pd, config.receiveCompletionQueue());
    ReceiveSharing shared =
        SharedQueue.of(config, pd).map(queue -> ReceiveSharing.of(queue, limits)).orElse(null);
    CardFamily family = device.family();
    boolean locks = !config.isSingleOwner() || family.sharesRings();
    SpinLock receiveLock = locks ? new SpinLock(LockRank.RECEIVES) : null;
    QueuePairCapabilities sizes = config.capabilities();
    if (shared == null) {
      this.capabilities = sizes;
    } else {
      this.capabilities =
          new QueuePairCapabilities(sizes.sendDepth(), 0, sizes.maxSendSge(), 0, sizes.maxInline());
      receiveLock = shared.receiveLock();
      sizes = shared.rings(sizes);
    }
    try (Undo undo = new Undo()) {
      undo.add(this::abandon);
      QueueGeometry geometry = QueueGeometry.of(limits, type, sizes);
      this.sendRequests = capabilities.sendDepth() + limits.ownElements();
      sendCompletionQueue.reserve(sendRequests);
      undo.add(() -> sendCompletionQueue.unreserve(sendRequests));
      receiveCompletionQueue.reserve(capabilities.receiveDepth());
      undo.add(() -> receiveCompletionQueue.unreserve(capabilities.receiveDepth()));
      if (shared != null) {
        shared.queue().reserve(receiveCompletionQueue);
        undo.add(() -> shared.queue().unreserve(receiveCompletionQueue));
      }
      this.number = config.isGsi() ? claimGsi() : allocate(geometry);
      undo.add(() -> device.qpNumbers().free(number));
      this.sendOwner = locks ? null : new OwnerCheck("the send queue of " + describe());
      this.receiveOwner = locks ? null : new OwnerCheck("the receive queue of " + describe());
      this.icm = card.icm().reserve(IcmTable.QPC, number, 1);
      undo.add(icm::close);
      this.memory = new QueuePairMemory(pd.rings(), geometry, sizes.receiveDepth() > 0);
      undo.add(memory::close);
      this.receives =
          family.receives(
              type,
              geometry.receives(
                  access(memory.receives(), locks && shared == null), number, sizes.receiveDepth()),
              sizes.maxReceiveSge(),
              pd.number());
      this.share = shared == null ? null : shared.receiver(this, receives);
      QueuePairContext fresh =
          QpContexts.fresh(
              type,
              config.isGsi() ? Mtu.MTU_256 : pd.context().port().mtu(),
              geometry,
              new QpContexts.Numbers(
                  number,
                  pd.number(),
                  pd.context().uar().index(),
                  sendCompletionQueue.number(),
                  receiveCompletionQueue.number()));
      memory.writeTo(fresh);
      if (share != null) {
        share.writeTo(fresh);
      }
      this.context = new ProgrammedContext(type, fresh, card.commands(), family.contexts());
      RingShape shape =
          geometry.sends(access(memory.sends(), locks), number, capabilities.sendDepth());
      SendWriter writer =
          new SendWriter(type, profile, pd, shape, capabilities, config.isSignalAll());
      SpinLock sendLock = locks ? new SpinLock(LockRank.SENDS) : null;
      this.sends =
          family.sends(shape, writer, pd.context().uar(), sendLock, this::refuseSend, pd.number());
      this.state = new QueuePairState(card.health(), sends, receiveLock);
      this.rings = makeRings();
      this.errorFlow =
          family.errorFlow(
              this, state, context, sendCompletionQueue.parser(), receiveCompletionQueue.parser());
      rings.reportTo(errorFlow);
      device.objects().add(this);
      pd.context().count(this);
      if (share != null) {
        share.join();
      }
      publish();
      undo.forget();
    } catch (RuntimeException e) {
      throw Failures.of("cannot create a queue pair", e);
    }
  }

  private int allocate(QueueGeometry geometry) {
    return device.qpNumbers().allocate(position -> position.fits(geometry));
  }

  private int claimGsi() {
    if (!card.limits().has(DeviceExtension.GSI_QUEUE_PAIR)) {
      throw new VerbsException(
          Errno.EOPNOTSUPP,
          "queue pair 1, of the general services: this device has none, only a software HCA of"
              + " profile s does");
    }
    if (!device.qpNumbers().claim(DeviceExtension.GSI_NUMBER)) {
      throw new VerbsException(
          Errno.EBUSY,
          "queue pair 1, of the general services, is in use: each port has one, close it first");
    }
    return DeviceExtension.GSI_NUMBER;
  }

  private boolean isGsi() {
    return number == DeviceExtension.GSI_NUMBER;
  }

  private QueuePairRings makeRings() {
    return new QueuePairRings(
        number,
        sends,
        receives,
        share == null ? receives : share,
        card.limits().receiveFlags(type),
        sendCompletionQueue.completions(),
        receiveCompletionQueue.completions());
  }

  /**
   * How posting accesses a ring. The close of a queue pair enters RESET under the locks of its
   * rings before their memory is freed: a thread with the lock of an open ring needs no check.
   */
  private static RingMemory access(MemorySegment ring, boolean locks) {
    return locks ? RingMemory.guarded(ring) : RingMemory.checked(ring);
  }

  private static Resource[] used(HghcaProtectionDomain pd, QueuePairConfig config) {
    return Stream.concat(
            Stream.of(
                pd,
                own(pd, config.sendCompletionQueue()),
                own(pd, config.receiveCompletionQueue())),
            SharedQueue.of(config, pd).stream())
        .toArray(Resource[]::new);
  }

  private static HghcaCompletionQueue own(HghcaProtectionDomain pd, CompletionQueue queue) {
    if (queue instanceof HghcaCompletionQueue ours && ours.context().equals(pd.context())) {
      return ours;
    }
    throw new VerbsException(
        Errno.EINVAL,
        "the completion queue belongs to another context than %s".formatted(pd.describe()));
  }

  @Override
  public String describe() {
    return "QP 0x%06x".formatted(number);
  }

  @Override
  protected String standing() {
    String receiving =
        share == null
            ? "receives %s".formatted(receives.standing())
            : "receives of %s".formatted(share.queue().describe());
    return "%s in %s, sends %s, %s".formatted(type(), state(), sends.standing(), receiving);
  }

  SendRing sends() {
    return sends;
  }

  ReceiveRing receives() {
    return receives;
  }

  @Override
  public QueuePairRings rings() {
    return rings;
  }

  QueuePairMemory memory() {
    return memory;
  }

  @Override
  public ProtectionDomain protectionDomain() {
    return pd;
  }

  HghcaProtectionDomain domain() {
    return pd;
  }

  @Override
  public ContextAttributes attributes() {
    return pd.context().attributes();
  }

  @Override
  public void raise(AsyncEventType event) {
    pd.context().raise(event, this);
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public QpType type() {
    return type;
  }

  @Override
  public QpState state() {
    return state.get();
  }

  @Override
  public QueuePairCapabilities capabilities() {
    return capabilities;
  }

  @Override
  public HghcaCompletionQueue sendCompletionQueue() {
    return sendCompletionQueue;
  }

  @Override
  public HghcaCompletionQueue receiveCompletionQueue() {
    return receiveCompletionQueue;
  }

  @Override
  public Optional<SharedReceiveQueue> sharedReceiveQueue() {
    return Optional.ofNullable(share).map(SharedReceiver::queue);
  }

  // ---- posting

  @Override
  public boolean tryPostSend(SendRequest request) {
    assert begins(sendOwner);
    try {
      return sends.post(request);
    } catch (InternalError | VfioException e) { // a doorbell faults when its card is gone
      throw new BadRequestException(Errno.EIO, 0, card.faulted(e));
    } finally {
      assert ends(sendOwner);
    }
  }

  @Override
  public int tryPostSend(SendRequest[] requests, int from, int count) {
    Objects.checkFromIndexSize(from, count, requests.length);
    assert begins(sendOwner);
    try {
      return sends.post(requests, from, count);
    } catch (InternalError | VfioException e) {
      throw new BadRequestException(Errno.EIO, 0, card.faulted(e));
    } finally {
      assert ends(sendOwner);
    }
  }

  @Override
  public boolean tryEnqueueSend(SendRequest request) {
    assert begins(sendOwner);
    try {
      return sends.enqueue(request);
    } catch (InternalError | VfioException e) {
      throw new BadRequestException(Errno.EIO, 0, card.faulted(e));
    } finally {
      assert ends(sendOwner);
    }
  }

  @Override
  public void flushSends() {
    assert begins(sendOwner);
    try {
      sends.flush();
    } catch (InternalError | VfioException e) {
      throw new VerbsException(Errno.EIO, card.faulted(e));
    } finally {
      assert ends(sendOwner);
    }
  }

  private static boolean begins(OwnerCheck owner) {
    return owner == null || owner.begin();
  }

  private static boolean ends(OwnerCheck owner) {
    return owner == null || owner.end();
  }

  @Override
  public boolean tryPostReceive(ReceiveRequest request) {
    checkOwnReceives();
    assert begins(receiveOwner);
    state.lockReceives();
    try {
      return post(request, 0);
    } finally {
      state.unlockReceives();
      assert ends(receiveOwner);
    }
  }

  @Override
  public int tryPostReceive(ReceiveRequest[] requests, int from, int count) {
    Objects.checkFromIndexSize(from, count, requests.length);
    if (count == 0) {
      return 0;
    }
    checkOwnReceives();
    assert begins(receiveOwner);
    state.lockReceives();
    try {
      return takesReceives()
          ? receives.post(requests, from, count)
          : postEach(requests, from, count);
    } finally {
      state.unlockReceives();
      assert ends(receiveOwner);
    }
  }

  private void checkOwnReceives() {
    if (share != null) {
      throw new BadRequestException(
          Errno.EINVAL,
          0,
          describe() + " takes its receives from a shared receive queue: post them there");
    }
  }

  /** Whether receives may be posted to the card. Under the lock of the receives. */
  private boolean takesReceives() {
    QpState now = state.get();
    return now != QpState.ERR && now != QpState.RESET;
  }

  private int postEach(ReceiveRequest[] requests, int from, int count) {
    int posted = 0;
    while (posted < count && post(requests[from + posted], posted)) {
      posted++;
    }
    return posted;
  }

  /** Under the lock of the receives. */
  private boolean post(ReceiveRequest request, int index) {
    QpState now = state.get();
    if (now == QpState.ERR) {
      return postFlushedReceive(request, index);
    }
    if (now == QpState.RESET) {
      throw wrongState("receive", index);
    }
    return receives.post(request, index);
  }

  private boolean postFlushedReceive(ReceiveRequest request, int index) {
    if (card.health().isDead()) {
      throw wrongState("receive", index);
    }
    receives.check(request, index);
    if (!errorFlow.flush().post(request)) {
      return false;
    }
    receiveCompletionQueue.addFlushing(errorFlow.flush());
    return true;
  }

  private BadRequestException refuseSend() {
    return wrongState("send", 0);
  }

  private BadRequestException wrongState(String what, int index) {
    Optional<String> death = card.health().complaint();
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

  // ---- reports of completions, under a completion queue's lock

  ErrorFlow errorFlow() {
    return errorFlow;
  }

  @Override
  public boolean failed() {
    boolean isNew = state.fail();
    if (isNew) {
      errorFlow.failed();
    }
    return isNew;
  }

  @Override
  public void deviceFailed() {
    failed();
    state.openSends();
  }

  @Override
  public QueuePairContext programmed() {
    return context.last();
  }

  // ---- states

  /**
   * Records the first sequence number that the peer is given, so that the card also gets it in
   * time.
   */
  @Override
  public <X extends Exception> void connect(ConnectionOptions options, EndpointExchange<X> exchange)
      throws X {
    RecoveredQueuePair.super.connect(
        options,
        own -> {
          errorFlow.announced(own.psn());
          return exchange.exchange(own);
        });
  }

  @Override
  public Optional<WrapMemory> offerWrapMemory() {
    return type == QpType.RC ? device.family().offerWrapMemory(pd.number()) : Optional.empty();
  }

  @Override
  public synchronized void takeWrapMemory(WrapMemory ofPeer) {
    checkOpen();
    if (state() != QpState.INIT && state() != QpState.RTR) {
      throw new VerbsException(
          Errno.EINVAL,
          "%s is in %s: memory for the PSN wrap is taken between RESET and RTS"
              .formatted(describe(), state()));
    }
    if (type == QpType.RC) {
      device.family().takeWrapMemory(this, ofPeer, pd.number());
    }
  }

  @Override
  public synchronized void modify(QpAttributes attributes) {
    checkOpen();
    card.health().check();
    if (attributes.has(QpAttribute.CUR_STATE) && attributes.currentState() != state()) {
      query(); // the caller may know of an unpolled error
    }
    QpState from = state();
    QpState to = QpTransitions.check(type, from, attributes);
    if (from == QpState.RESET && to == QpState.RESET) {
      return;
    }
    if (isGsi() && attributes.has(QpAttribute.QKEY) && attributes.qkey() != GSI_QKEY) {
      throw new VerbsException(
          Errno.EINVAL,
          "%s is of the general services, whose Q_Key is 0x%08x, not 0x%08x"
              .formatted(describe(), GSI_QKEY, attributes.qkey()));
    }
    try {
      if (to == QpState.RESET || to == QpState.ERR) {
        errorFlow.stop(from, to, attributes);
      } else {
        errorFlow.advance(from, to, attributes);
      }
    } catch (RuntimeException e) {
      if (card.health().isDead()) {
        deviceFailed(); // an earlier error: a queue pair on its way to RESET ignored it
      }
      throw Failures.of("cannot modify " + describe(), e);
    } finally {
      notifyShare();
    }
  }

  @Override
  public synchronized QpAttributes query() {
    checkOpen();
    card.health().check();
    if (state() == QpState.RESET) {
      return QpContexts.attributes(context.last(), QpState.RESET);
    }
    try {
      return errorFlow.query();
    } catch (RuntimeException e) {
      throw Failures.of("cannot query " + describe(), e);
    }
  }

  // ---- multicast

  @Override
  public synchronized void attachMulticast(Gid group) {
    checkOpen();
    card.health().check();
    device.groups().check(group);
    if (type != QpType.UD || isGsi()) {
      throw new VerbsException(
          Errno.EINVAL,
          "%s is %s: only UD queue pairs take part in multicast groups"
              .formatted(describe(), isGsi() ? "of the general services" : type));
    }
    device.groups().attach(group, number);
    hold(new MulticastGroups.Member(group));
  }

  /** Also after the end of the device: the program can close the queue pair then. */
  @Override
  public synchronized void detachMulticast(Gid group) {
    checkOpen();
    device.groups().check(group);
    device.groups().detach(group, number);
    releaseClaim(new MulticastGroups.Member(group));
  }

  @Override
  public void addFlushing() {
    sendCompletionQueue.addFlushing(errorFlow.flush());
    receiveCompletionQueue.addFlushing(errorFlow.flush());
  }

  @Override
  public void quarantineCompletions() {
    sendCompletionQueue.quarantine();
    receiveCompletionQueue.quarantine();
  }

  @Override
  public boolean sharesReceives() {
    return share != null;
  }

  @Override
  public boolean isResetByError() {
    return share != null && share.isResetByError();
  }

  @Override
  public void notifyShare() {
    if (share != null) {
      share.stateChanged();
    }
  }

  @Override
  public void forget() {
    sendCompletionQueue.drop(rings, sends::reset);
    if (share == null) {
      receiveCompletionQueue.drop(rings, receives::reset);
    } else {
      share.reclaim(then -> receiveCompletionQueue.drop(rings, then));
    }
    errorFlow.reset();
  }

  // ---- life cycle

  @Override
  public void addTo(ContextCounters counters) {
    DriverFlush flush = errorFlow.flush();
    // The shared queue counts the requests that it distributes, also repeatedly.
    long received = share == null ? receives.posted() + flush.receivesPosted() : 0;
    counters.add(sends.posted() + flush.sendsPosted(), received, sends.doorbells());
  }

  @Override
  protected synchronized void release() {
    QpState last = state();
    state.enter(QpState.RESET);
    if (share != null) {
      share.leave();
    }
    pd.context().countNoMore(this);
    pd.context().forgetEvents(this);
    card.deferredFree().retire(describe(), () -> end(last), memory::close, this::freeNumbers);
  }

  /** Makes the card release it. */
  private void end(QpState last) {
    if (last != QpState.RESET) {
      errorFlow.end(last);
      context.end();
      device.events().settle();
    }
    forget();
  }

  private void freeNumbers() {
    device.objects().remove(this);
    icm.close();
    sendCompletionQueue.unreserve(sendRequests);
    receiveCompletionQueue.unreserve(capabilities.receiveDepth());
    if (share != null) {
      share.queue().unreserve(receiveCompletionQueue);
    }
    errorFlow.freeNumber();
  }
}
