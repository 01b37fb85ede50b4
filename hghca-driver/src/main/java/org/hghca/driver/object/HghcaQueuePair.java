package org.hghca.driver.object;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;
import org.hghca.abi.DeviceExtension;
import org.hghca.abi.QueuePairContext;
import org.hghca.driver.card.Card;
import org.hghca.driver.card.Limits;
import org.hghca.driver.completion.DriverFlush;
import org.hghca.driver.completion.QueuePairRings;
import org.hghca.driver.ring.QueueGeometry;
import org.hghca.driver.ring.ReceiveRing;
import org.hghca.driver.ring.RingShape;
import org.hghca.driver.ring.SendRing;
import org.hghca.driver.ring.SendWriter;
import org.hghca.driver.state.ContextAttributes;
import org.hghca.driver.state.ProgrammedContext;
import org.hghca.driver.state.QpContexts;
import org.hghca.driver.state.QueuePairState;
import org.hghca.driver.transition.DriverQueuePair;
import org.hghca.driver.transition.StateFlow;
import org.hghca.icm.IcmRange;
import org.hghca.icm.IcmTable;
import org.hghca.provider.Failures;
import org.hghca.provider.Undo;
import org.hghca.provider.counters.Tally;
import org.hghca.provider.object.AbstractQueuePair;
import org.hghca.provider.queue.LockRank;
import org.hghca.provider.queue.OwnerCheck;
import org.hghca.provider.queue.SpinLock;
import org.hghca.provider.srq.SharedQueue;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.EndpointExchange;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WrapMemory;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.direct.RingMemory;

/**
 * A queue pair: its parts, posting, and its verbs. Its states are {@link QueuePairState}, {@link
 * ProgrammedContext} and {@link StateFlow}.
 */
final class HghcaQueuePair extends AbstractQueuePair<HghcaCompletionQueue>
    implements DriverQueuePair {
  private final HghcaProtectionDomain pd;
  private final HghcaDevice device;
  private final Card card;

  /** Null for a queue pair for several threads, whose rings have locks. */
  private final OwnerCheck sendOwner;

  private final OwnerCheck receiveOwner;
  private final int number;
  private final IcmRange icm;
  private final QueuePairMemory memory;
  private final SendRing sends;
  private final ReceiveRing receives;
  private final QueuePairRings rings;

  /** Null for a queue pair with its own receives. */
  private final SharedReceiver share;

  private final QueuePairState state;
  private final ProgrammedContext context;
  private final StateFlow stateFlow;

  HghcaQueuePair(HghcaProtectionDomain pd, QueuePairConfig config) {
    super(pd, config, HghcaCompletionQueue.class);
    this.pd = pd;
    this.device = pd.device();
    this.card = device.card();
    Limits limits = card.limits();
    CardFamily family = device.family();
    ReceiveSharing shared =
        SharedQueue.of(config, pd).map(queue -> ReceiveSharing.of(queue, limits)).orElse(null);
    QueuePairCapabilities sizes =
        shared == null ? capabilities() : shared.rings(config.capabilities());
    boolean locks = !config.isSingleOwner() || family.sharesRings();
    try (Undo undo = new Undo()) {
      undo.add(this::abandon);
      QueueGeometry geometry = QueueGeometry.of(limits, type(), sizes);
      reserve(capabilities().sendDepth() + limits.ownElements(), undo);
      this.number =
          isGsi() ? claimGsi() : device.qpNumbers().allocate(position -> position.fits(geometry));
      undo.add(() -> device.qpNumbers().free(number));
      this.sendOwner = locks ? null : new OwnerCheck("the send queue of " + describe());
      this.receiveOwner = locks ? null : new OwnerCheck("the receive queue of " + describe());
      this.icm = card.icm().reserve(IcmTable.QPC, number, 1);
      undo.add(icm::close);
      this.memory = new QueuePairMemory(pd.rings(), geometry, sizes.receiveDepth() > 0);
      undo.add(memory::close);
      this.receives = receiveRing(geometry, sizes, locks && shared == null);
      this.share = shared == null ? null : shared.receiver(this, receives);
      this.context =
          new ProgrammedContext(type(), freshContext(geometry), card.commands(), family.contexts());
      this.sends = sendRing(geometry, config.isSignalAll(), locks);
      this.state = new QueuePairState(card.health(), sends, receiveLock(shared, locks));
      this.rings = makeRings();
      this.stateFlow =
          family.stateFlow(
              this,
              state,
              context,
              sendCompletionQueue().parser(),
              receiveCompletionQueue().parser());
      rings.reportTo(stateFlow);
      device.objects().add(this);
      finish();
      undo.forget();
    } catch (RuntimeException e) {
      throw Failures.of("cannot create a queue pair", e);
    }
  }

  private int claimGsi() {
    if (!card.limits().has(DeviceExtension.GSI_QUEUE_PAIR)) {
      throw new VerbsException(
          Errno.EOPNOTSUPP,
          "queue pair 1, of the general services: this device has none, only a software HCA of"
              + " profile s does");
    }
    if (!device.qpNumbers().claim(DeviceExtension.GSI_NUMBER)) {
      throw gsiInUse();
    }
    return DeviceExtension.GSI_NUMBER;
  }

  private ReceiveRing receiveRing(
      QueueGeometry geometry, QueuePairCapabilities sizes, boolean locks) {
    RingShape shape =
        geometry.receives(access(memory.receives(), locks), number, sizes.receiveDepth());
    return device.family().receives(type(), shape, sizes.maxReceiveSge(), pd.number());
  }

  private SendRing sendRing(QueueGeometry geometry, boolean signalAll, boolean locks) {
    RingShape shape =
        geometry.sends(access(memory.sends(), locks), number, capabilities().sendDepth());
    SendWriter writer =
        new SendWriter(type(), card.limits().profile(), pd, shape, capabilities(), signalAll);
    SpinLock lock = locks ? new SpinLock(LockRank.SENDS) : null;
    return device
        .family()
        .sends(shape, writer, pd.context().uar(), lock, this::refuseSend, pd.number());
  }

  /** The lock of its receives: that of the shared receive queue, if it has one. */
  private static SpinLock receiveLock(ReceiveSharing shared, boolean locks) {
    if (shared != null) {
      return shared.receiveLock();
    }
    return locks ? new SpinLock(LockRank.RECEIVES) : null;
  }

  /** The context of a queue pair in RESET. */
  private QueuePairContext freshContext(QueueGeometry geometry) {
    QueuePairContext fresh =
        QpContexts.fresh(
            type(),
            isGsi() ? Mtu.MTU_256 : pd.context().port().mtu(),
            geometry,
            new QpContexts.Numbers(
                number,
                pd.number(),
                pd.context().uar().index(),
                sendCompletionQueue().number(),
                receiveCompletionQueue().number()));
    memory.writeTo(fresh);
    if (share != null) {
      share.writeTo(fresh);
    }
    return fresh;
  }

  private QueuePairRings makeRings() {
    return new QueuePairRings(
        number,
        sends,
        receives,
        share == null ? receives : share,
        card.limits().receiveFlags(type()),
        sendCompletionQueue().completions(),
        receiveCompletionQueue().completions());
  }

  /**
   * How posting accesses a ring. The close of a queue pair enters RESET under the locks of its
   * rings before their memory is freed: a thread with the lock of an open ring needs no check.
   */
  private static RingMemory access(MemorySegment ring, boolean locks) {
    return locks ? RingMemory.guarded(ring) : RingMemory.checked(ring);
  }

  @Override
  protected String standing() {
    return standing(sends.standing(), receives.standing());
  }

  SendRing sends() {
    return sends;
  }

  @Override
  public QueuePairRings rings() {
    return rings;
  }

  QueuePairMemory memory() {
    return memory;
  }

  @Override
  public ContextAttributes attributes() {
    return pd.context().attributes();
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public QpState state() {
    return state.get();
  }

  @Override
  protected SharedReceiver share() {
    return share;
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
      throw receivesAreShared();
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
    if (!stateFlow.flush().post(request)) {
      return false;
    }
    receiveCompletionQueue().addFlushing(stateFlow.flush());
    return true;
  }

  private BadRequestException refuseSend() {
    return wrongState("send", 0);
  }

  // ---- reports of completions, under a completion queue's lock

  StateFlow stateFlow() {
    return stateFlow;
  }

  @Override
  public boolean failed() {
    boolean isNew = state.fail();
    if (isNew) {
      stateFlow.failed();
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

  /** Tells the state flow of the first sequence number that the peer is given. */
  @Override
  public <X extends Exception> void connect(ConnectionOptions options, EndpointExchange<X> exchange)
      throws X {
    DriverQueuePair.super.connect(
        options,
        own -> {
          stateFlow.announced(own.psn());
          return exchange.exchange(own);
        });
  }

  @Override
  public Optional<WrapMemory> offerWrapMemory() {
    return type() == QpType.RC ? device.family().offerWrapMemory(pd.number()) : Optional.empty();
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
    if (type() == QpType.RC) {
      device.family().takeWrapMemory(this, ofPeer, pd.number());
    }
  }

  @Override
  protected void change(QpState from, QpState to, QpAttributes attributes) {
    try {
      if (to == QpState.RESET || to == QpState.ERR) {
        stateFlow.stop(from, to, attributes);
      } else {
        stateFlow.advance(from, to, attributes);
      }
    } catch (RuntimeException e) {
      if (card.health().isDead()) {
        deviceFailed(); // an earlier error: a queue pair on its way to RESET ignored it
      }
      throw Failures.of("cannot modify " + describe(), e);
    }
  }

  @Override
  protected QpAttributes attributesNow() {
    if (state() == QpState.RESET) {
      return QpContexts.attributes(context.last(), QpState.RESET);
    }
    try {
      return stateFlow.query();
    } catch (RuntimeException e) {
      throw Failures.of("cannot query " + describe(), e);
    }
  }

  // ---- multicast

  @Override
  public synchronized void attachMulticast(Gid group) {
    checkAlive();
    device.groups().check(group);
    if (type() != QpType.UD || isGsi()) {
      throw new VerbsException(
          Errno.EINVAL,
          "%s is %s: only UD queue pairs take part in multicast groups"
              .formatted(describe(), isGsi() ? "of the general services" : type()));
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
    sendCompletionQueue().addFlushing(stateFlow.flush());
    receiveCompletionQueue().addFlushing(stateFlow.flush());
  }

  @Override
  public void quarantineCompletions() {
    sendCompletionQueue().quarantine();
    receiveCompletionQueue().quarantine();
  }

  @Override
  public boolean isResetByError() {
    return share != null && share.isResetByError();
  }

  @Override
  public void forget() {
    sendCompletionQueue().drop(rings, sends::reset);
    if (share == null) {
      receiveCompletionQueue().drop(rings, receives::reset);
    } else {
      share.reclaim(then -> receiveCompletionQueue().drop(rings, then));
    }
    stateFlow.reset();
  }

  // ---- life cycle

  @Override
  protected void addWork(Tally sum) {
    DriverFlush flush = stateFlow.flush();
    // The shared queue counts the requests that it distributes, also repeatedly.
    long received = share == null ? receives.posted() + flush.receivesPosted() : 0;
    sum.addRequests(sends.posted() + flush.sendsPosted(), received, sends.doorbells());
    sum.addBytes(sends.sentBytes(), sends.readBytes(), rings.receiver().receivedBytes());
  }

  @Override
  protected long failures() {
    return rings.failures();
  }

  @Override
  protected QpState enterReset() {
    QpState last = state();
    state.enter(QpState.RESET);
    return last;
  }

  @Override
  protected void destroy(QpState last) {
    if (last != QpState.RESET) {
      stateFlow.end(last);
      context.end();
      device.events().deliverAll();
    }
    forget();
  }

  @Override
  protected void freeMemory() {
    memory.close();
  }

  @Override
  protected void freeNumber() {
    device.objects().remove(this);
    icm.close();
    stateFlow.freeNumber();
  }
}
