package org.hghca.driver;

import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.stream.Stream;
import jdk.jfr.FlightRecorder;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.icm.IcmRange;
import org.hghca.icm.IcmTable;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.EndpointExchange;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttribute;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.spi.QpTransitions;

/**
 * A queue pair. MODIFY_QP replaces the whole context in the card, so the driver keeps all of it and
 * sends all of it each time.
 */
final class HghcaQueuePair extends Resource implements QueuePair, ContextCounters.Counted {
  private static final AtomicReferenceFieldUpdater<HghcaQueuePair, QpState> STATE =
      AtomicReferenceFieldUpdater.newUpdater(HghcaQueuePair.class, QpState.class, "state");

  /** What verbs let stand before the payload of every datagram, filled or not. */
  private static final int GRH_BYTES = 40;

  private final HghcaProtectionDomain pd;
  private final HghcaDevice device;
  private final QpType type;
  private final int receiveFlags;
  private final int bytesBeforeReceived;
  private final HghcaCompletionQueue sendCompletionQueue;
  private final HghcaCompletionQueue receiveCompletionQueue;
  private final QueuePairCapabilities capabilities;
  private final int number;

  /** How many sends may stand in the ring, one of our own too where the card needs it. */
  private final int sendRequests;

  private final IcmRange icm;
  private final QueuePairMemory memory;

  /** Null for a card that reports bad requests. */
  private final SendChecks sendChecks;

  private final SendRing sends;
  private final ReceiveRing receives;

  /** Null for a queue pair that has its receives for itself. */
  private final SharedReceiver share;

  /** Null for a queue pair that one thread owns; that of the shared receive queue, if there is. */
  private final SpinLock receiveLock;

  private final SoftwareFlush flush;

  /** Null on a card that times out and flushes by itself. */
  private final SoftwareErrorFlow errorFlow;

  /** What the card was given last. Under the monitor; others may see an older one. */
  private volatile QueuePairContext context;

  /** What it will probably be asked to send with. */
  private volatile int announcedPsn;

  /** Changed by modifying, and by whoever learns of an error, through STATE. */
  private volatile QpState state = QpState.RESET;

  HghcaQueuePair(HghcaProtectionDomain pd, QueuePairConfig config) {
    super(used(pd, config));
    this.pd = pd;
    this.device = pd.device();
    this.type = config.type();
    boolean grh = device.limits().profile().grhPlaced();
    this.receiveFlags = type == QpType.UD && grh ? Completions.GRH : 0;
    this.bytesBeforeReceived = type == QpType.UD && !grh ? GRH_BYTES : 0;
    this.sendCompletionQueue = own(pd, config.sendCompletionQueue());
    this.receiveCompletionQueue = own(pd, config.receiveCompletionQueue());
    HghcaSharedReceiveQueue shared = shared(pd, config).orElse(null);
    Optional<RequestMemory> checked =
        device.regions().map(r -> new RequestMemory(r.keys(), pd.number()));
    this.sendChecks =
        checked
            .map(
                m ->
                    new SendChecks(
                        m, device.queuePairs(), device.limits().profile().readBytesInFlight()))
            .orElse(null);
    // Others than the owner look into the rings, or ring for it, on a card that needs care.
    boolean singleOwner = config.isSingleOwner() && checked.isEmpty() && device.inFlight() == null;
    QueuePairCapabilities rings = config.capabilities();
    if (shared == null) {
      this.capabilities = rings;
      this.receiveLock = singleOwner ? null : new SpinLock();
    } else {
      this.capabilities =
          new QueuePairCapabilities(rings.sendDepth(), 0, rings.maxSendSge(), 0, rings.maxInline());
      this.receiveLock = shared.receiveLock();
      rings = shared.rings(rings);
    }
    try (Undo undo = new Undo()) {
      undo.add(this::abandon);
      QueueGeometry geometry = QueueGeometry.of(device.limits(), type, rings);
      this.sendRequests = capabilities.sendDepth() + device.limits().ownElements();
      sendCompletionQueue.reserve(sendRequests);
      undo.add(() -> sendCompletionQueue.unreserve(sendRequests));
      receiveCompletionQueue.reserve(capabilities.receiveDepth());
      undo.add(() -> receiveCompletionQueue.unreserve(capabilities.receiveDepth()));
      if (shared != null) {
        shared.reserve(receiveCompletionQueue);
        undo.add(() -> shared.unreserve(receiveCompletionQueue));
      }
      this.number = device.qpNumbers().allocate(position -> position.fits(geometry));
      undo.add(() -> device.qpNumbers().free(number));
      this.icm = device.icm().reserve(IcmTable.QPC, number, 1);
      undo.add(icm::close);
      this.memory = new QueuePairMemory(pd, geometry, rings.receiveDepth() > 0);
      undo.add(memory::close);
      this.sends =
          new SendRing(
              type,
              device.limits().profile(),
              new SendWriter(
                  type,
                  device.limits().profile(),
                  pd,
                  memory.sends(),
                  number,
                  capabilities.maxSendSge(),
                  capabilities.maxInline(),
                  config.isSignalAll()),
              sendChecks,
              device.inFlight(),
              memory.sends(),
              pd.deviceContext().uar(),
              number,
              capabilities.sendDepth(),
              geometry.sendSlots(),
              geometry.sendStrideLog(),
              singleOwner ? null : new SpinLock(),
              () -> wrongState("send", 0));
      this.receives =
          new ReceiveRing(
              memory.receives(),
              number,
              rings.receiveDepth(),
              geometry.receiveSlots(),
              geometry.receiveStrideLog(),
              rings.maxReceiveSge(),
              checked.map(m -> new ReceiveChecks(m, bytesBeforeReceived)).orElse(null),
              device.fillerKey());
      this.share = shared == null ? null : shared.receiver(this, receives);
      this.flush = new SoftwareFlush(this, capabilities.sendDepth(), capabilities.receiveDepth());
      if (device.limits().profile().flushesInHardware()) {
        this.errorFlow = null;
      } else {
        this.errorFlow = new SoftwareErrorFlow(this, device, flush);
        sends.flushedBy(flush);
        receives.resume(errorFlow.firstReceive());
      }
      this.context = QpContexts.fresh(this, geometry);
      device.queuePairs().put(number, this);
      pd.deviceContext().count(this);
      if (share != null) {
        share.join();
      }
      publish();
      undo.forget();
    } catch (RuntimeException e) {
      throw Failures.of("cannot create a queue pair", e);
    }
  }

  private static Resource[] used(HghcaProtectionDomain pd, QueuePairConfig config) {
    return Stream.concat(
            Stream.of(
                pd,
                own(pd, config.sendCompletionQueue()),
                own(pd, config.receiveCompletionQueue())),
            shared(pd, config).stream())
        .toArray(Resource[]::new);
  }

  private static Optional<HghcaSharedReceiveQueue> shared(
      HghcaProtectionDomain pd, QueuePairConfig config) {
    return config
        .sharedReceiveQueue()
        .map(
            queue -> {
              if (queue instanceof HghcaSharedReceiveQueue ours
                  && ours.protectionDomain().equals(pd)) {
                return ours;
              }
              throw new VerbsException(
                  Errno.EINVAL,
                  "the shared receive queue belongs to another protection domain than %s"
                      .formatted(pd.describe()));
            });
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
  String describe() {
    return "QP 0x%06x".formatted(number);
  }

  SendRing sends() {
    return sends;
  }

  ReceiveRing receives() {
    return receives;
  }

  /** Where its receives stand. */
  Receives receiver() {
    return share == null ? receives : share;
  }

  /** Puts into its context where receives come from, if they are not its own. */
  void tellShare(QueuePairContext context) {
    if (share != null) {
      share.tell(context);
    }
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
  public int number() {
    return number;
  }

  @Override
  public QpType type() {
    return type;
  }

  @Override
  public QpState state() {
    return state;
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
    try {
      return sends.post(request);
    } catch (InternalError e) { // a doorbell faults when its card is gone
      throw new BadRequestException(Errno.EIO, 0, device.faulted(e));
    }
  }

  @Override
  public int tryPostSend(SendRequest[] requests, int from, int count) {
    Objects.checkFromIndexSize(from, count, requests.length);
    try {
      return sends.post(requests, from, count);
    } catch (InternalError e) {
      throw new BadRequestException(Errno.EIO, 0, device.faulted(e));
    }
  }

  @Override
  public boolean tryPostReceive(ReceiveRequest request) {
    return tryPostReceive(request, 0);
  }

  @Override
  public int tryPostReceive(ReceiveRequest[] requests, int from, int count) {
    Objects.checkFromIndexSize(from, count, requests.length);
    int posted = 0;
    while (posted < count && tryPostReceive(requests[from + posted], posted)) {
      posted++;
    }
    return posted;
  }

  private boolean tryPostReceive(ReceiveRequest request, int index) {
    if (share != null) {
      throw new BadRequestException(
          Errno.EINVAL,
          index,
          describe() + " takes its receives from a shared receive queue: post them there");
    }
    lockReceives();
    try {
      QpState now = state;
      if (now == QpState.ERR) {
        return postFlushedReceive(request, index);
      }
      if (now == QpState.RESET) {
        throw wrongState("receive", index);
      }
      return receives.post(request, index);
    } finally {
      unlockReceives();
    }
  }

  private void lockReceives() {
    if (receiveLock != null) {
      receiveLock.lock();
    }
  }

  private void unlockReceives() {
    if (receiveLock != null) {
      receiveLock.unlock();
    }
  }

  private BadRequestException wrongState(String what, int index) {
    Optional<String> fatal = device.health().complaint();
    if (fatal.isPresent()) {
      return new BadRequestException(Errno.EIO, index, fatal.get());
    }
    return new BadRequestException(
        Errno.EINVAL,
        index,
        isClosed()
            ? describe() + " is closed"
            : "%s is in %s and takes no %s requests".formatted(describe(), state, what));
  }

  // ---- what completions tell

  /** Flags of every receive that succeeds. */
  int receiveFlags() {
    return receiveFlags;
  }

  /** What the card does not count of a receive: where verbs have a global route header. */
  int bytesBeforeReceived() {
    return bytesBeforeReceived;
  }

  /**
   * The card reported an error. It puts a reliable queue pair in ERR, and so any receive; a send of
   * another type stops only the send queue. A flushed send tells nothing of those types: the error
   * that caused it came before, and the queue pair may have recovered since.
   *
   * <p>Called under a completion queue's lock, so it must not take the receive lock, whose holders
   * take that one.
   */
  void failed(boolean send, WcStatus status) {
    if (errorFlow != null) {
      if (state != QpState.ERR) {
        errorFlow.markPositionUnknown();
      }
      failed();
    } else if (type == QpType.RC || !send) {
      failed();
    } else if (status != WcStatus.WR_FLUSH_ERR) {
      change(QpState.RTS, QpState.SQE);
      change(QpState.SQD, QpState.SQE);
    }
  }

  /** The queue pair is in ERR, and so is what follows; returns whether that is new. */
  boolean failed() {
    for (QpState now = state; now != QpState.ERR && now != QpState.RESET; now = state) {
      // Whoever takes it to RESET at this moment wins: what is closed must not open again.
      if (STATE.compareAndSet(this, now, QpState.ERR)) {
        sends.setOpen(this::takesSends);
        if (errorFlow != null) {
          device.maintenance().wake();
        }
        return true;
      }
    }
    return false;
  }

  /** The card has put it into ERR by itself, which no completion tells. */
  private void failedSilently() {
    errorFlow.markPositionUnknown();
    if (failed()) {
      pd.deviceContext().raise(AsyncEventType.QP_FATAL, this);
      tellShare();
    }
  }

  /** The device is dead: nothing is posted any more. Called as {@link #failed} is. */
  void deviceFailed() {
    failed();
    sends.setOpen(this::takesSends);
  }

  private boolean takesSends() {
    boolean takes =
        switch (state) {
          case RTS, SQD, SQE -> true;
          case ERR -> errorFlow == null;
          case RESET, INIT, RTR -> false;
        };
    return takes && !device.health().isDead();
  }

  /** Whether an error has been seen that flushes what follows in that direction. */
  boolean hasFailed(boolean send) {
    QpState now = state;
    return now == QpState.ERR || send && now == QpState.SQE;
  }

  /** Whether the card takes what is put into the receive ring. */
  boolean takesReceives() {
    QpState now = state;
    return now != QpState.RESET && now != QpState.ERR;
  }

  private boolean postFlushedReceive(ReceiveRequest request, int index) {
    if (device.health().isDead()) {
      throw wrongState("receive", index);
    }
    receives.check(request, index);
    if (!flush.post(request)) {
      return false;
    }
    receiveCompletionQueue.addFlushing(this);
    return true;
  }

  SoftwareFlush flush() {
    return flush;
  }

  /** Null on a card that times out and flushes by itself. */
  SoftwareErrorFlow errorFlow() {
    return errorFlow;
  }

  /** Whether it is in ERR on a card that flushes nothing. */
  boolean isFlushedByDriver() {
    return errorFlow != null && state == QpState.ERR && !device.health().isDead();
  }

  /** What the card was given last. */
  QueuePairContext programmed() {
    return context;
  }

  /** Gives the card another context. Under the monitor. */
  void program(HcrCommand command, QpState from, QueuePairContext next) {
    QueuePairTransitionEvent event =
        FlightRecorder.isInitialized() ? new QueuePairTransitionEvent() : null;
    if (event != null) {
      event.begin();
    }
    device.commands().modifyQp(command, number, QpContexts.forCard(next, device));
    if (event != null) {
      event.end();
      tell(event, command, from, next);
    }
    context = next;
  }

  private void tell(
      QueuePairTransitionEvent event, HcrCommand command, QpState from, QueuePairContext next) {
    if (event.shouldCommit()) {
      event.qpn = number;
      event.type = type.name();
      event.from = from.name();
      event.to = QpContexts.state(next).name();
      event.command = command.name();
      event.commit();
    }
  }

  /**
   * Looks whether its sends move on, and whether the card still takes messages for it.
   *
   * @param now nanoseconds
   */
  synchronized SoftwareMaintenance.Need look(long now) {
    if (isClosed() || device.health().isDead()) {
      return SoftwareMaintenance.Need.NONE;
    }
    if (errorFlow.look(now)) {
      return SoftwareMaintenance.Need.OFTEN;
    }
    if (errorFlow.isSilentlyInError(now)) {
      failedSilently();
      boolean _ = errorFlow.look(now);
      return SoftwareMaintenance.Need.OFTEN;
    }
    return state == QpState.RTR || state == QpState.RTS
        ? SoftwareMaintenance.Need.SELDOM
        : SoftwareMaintenance.Need.NONE;
  }

  // ---- states

  /** Notes what the peer is told that we begin with, so that the card can be told in time too. */
  @Override
  public <X extends Exception> void connect(ConnectionOptions options, EndpointExchange<X> exchange)
      throws X {
    QueuePair.super.connect(
        options,
        own -> {
          announcedPsn = own.psn();
          return exchange.exchange(own);
        });
  }

  @Override
  public synchronized void modify(QpAttributes attributes) {
    checkOpen();
    device.health().check();
    if (attributes.has(QpAttribute.CUR_STATE) && attributes.currentState() != state) {
      query(); // of an error that was not polled the caller may know more than we do
    }
    QpState from = state;
    QpState to = QpTransitions.check(type, from, attributes);
    if (from == QpState.RESET && to == QpState.RESET) {
      return;
    }
    if (to == QpState.SQD && !device.limits().profile().sqdSqeStates()) {
      throw new VerbsException(
          Errno.EOPNOTSUPP, "%s cannot go to SQD on this card".formatted(describe()));
    }
    if (errorFlow != null && (to == QpState.RESET || to == QpState.ERR)) {
      end(to);
      return;
    }
    boolean concernsCard = concernsCard(from, to, attributes);
    QueuePairContext next =
        to == QpState.RESET ? QpContexts.reset(context) : next(from, concernsCard);
    QpContexts.apply(attributes, to, next, pd.deviceContext());
    if (to == QpState.RTR && errorFlow != null) {
      QpContexts.sendFrom(announcedPsn, next);
    }
    // Before the card changes its mind the queues stop taking what it would not see any more.
    boolean stops = to == QpState.RESET || to == QpState.ERR;
    if (stops) {
      enter(to);
    }
    try {
      if (concernsCard) {
        if (to == QpState.RESET) {
          giveBackByError(from);
        }
        program(command(from, to), from, next);
        if (to == QpState.ERR && share != null) {
          device.events().settle();
        }
      } else {
        next.set(QueuePairContext.STATE, context.get(QueuePairContext.STATE));
        context = next;
      }
      if (to == QpState.RTS) {
        device.commands().settle();
      }
    } catch (RuntimeException e) {
      change(to, from);
      if (device.health().isDead()) {
        deviceFailed(); // that was before: a queue pair on its way to RESET took no notice
      }
      tellShare();
      throw Failures.of("cannot modify " + describe(), e);
    }
    tellPath(next);
    if (to == QpState.RESET) {
      // An error of the time before must not be taken for one of the time to come.
      device.events().settle();
      forget();
    } else if (!stops) {
      change(from, to);
    }
    if (errorFlow != null) {
      errorFlow.entered(to);
    }
    tellShare();
  }

  /** Makes the card give back the request that it holds for a message that has begun. */
  private void giveBackByError(QpState from) {
    if (share != null && share.isResetByError() && from != QpState.ERR) {
      program(HcrCommand.ANY2ERR, from, context.copy().set(QueuePairContext.STATE, QpcState.ERR));
    }
  }

  /** Who checks requests hears where they go, before any can be posted. */
  private void tellPath(QueuePairContext c) {
    if (sendChecks == null) {
      return;
    }
    int packetLog = QpContexts.packetLog(c);
    sends.path(packetLog);
    if (type == QpType.RC && c.destinationMac() == pd.deviceContext().port().address().mac()) {
      sendChecks.path(packetLog, c.get(QueuePairContext.REMOTE_QPN));
    } else {
      sendChecks.path(packetLog);
    }
  }

  /** Whether a request that is not complete names memory by its key. */
  boolean names(int key) {
    lockReceives();
    try {
      if (receives.names(key)) {
        return true;
      }
    } finally {
      unlockReceives();
    }
    return sends.names(key);
  }

  /** Takes a card that flushes nothing to ERR, and from there to RESET if that is wanted. */
  private void end(QpState to) {
    try {
      if (to == QpState.RESET) {
        errorFlow.checkReset();
      }
      enter(QpState.ERR);
      errorFlow.follow();
      checkOpen(); // who waits lets others close it
      if (to == QpState.RESET) {
        errorFlow.prepareReset();
        enter(QpState.RESET);
        program(HcrCommand.ERR2RST, QpState.ERR, QpContexts.reset(context));
        forget();
        errorFlow.entered(QpState.RESET);
      }
    } catch (RuntimeException e) {
      if (device.health().isDead()) {
        deviceFailed();
      }
      throw Failures.of("cannot modify " + describe(), e);
    }
  }

  /** Whoever shares receives with us hears that the state has changed. */
  void tellShare() {
    if (share != null) {
      share.stateChanged();
    }
  }

  /** Changes the state, unless an error has changed it meanwhile. */
  private void change(QpState from, QpState to) {
    if (STATE.compareAndSet(this, from, to)) {
      sends.setOpen(this::takesSends);
    }
  }

  /**
   * Whether a change has to be told to the card. The RTL sends in RTR as it does in RTS, and uses
   * nothing of what may change then but the sequence number to send with. It is better not told: it
   * would go back to the sequence numbers that it had when it was asked for them, and refuse a peer
   * that has sent something since.
   */
  private boolean concernsCard(QpState from, QpState to, QpAttributes attributes) {
    if (errorFlow == null || to != QpState.RTS) {
      return true;
    }
    return from == QpState.RTR
        && type != QpType.UD
        && attributes.sendPsn() != context.get(QueuePairContext.NEXT_SEND_PSN);
  }

  /**
   * The context with the sequence numbers that the card has come to by now, if it is to be given to
   * it. A card that replaces the whole context would otherwise go back to those that traffic began
   * with.
   */
  private QueuePairContext next(QpState from, boolean forCard) {
    QueuePairContext c = context.copy();
    boolean counts = from != QpState.RESET && from != QpState.INIT;
    if (forCard && counts) {
      try {
        if (errorFlow != null) {
          errorFlow.goOn(c);
        } else {
          QpContexts.copySequenceNumbers(device.commands().queryQp(number), c);
        }
      } catch (RuntimeException e) {
        throw Failures.of("cannot query " + describe(), e);
      }
    }
    return c;
  }

  /** Changes the state between two requests, not within one. */
  private void enter(QpState to) {
    lockReceives();
    state = to;
    unlockReceives();
    sends.setOpen(this::takesSends);
  }

  private void forget() {
    sendCompletionQueue.drop(this, sends::reset);
    if (share == null) {
      int first = errorFlow == null ? 0 : errorFlow.firstReceive();
      receiveCompletionQueue.drop(this, () -> receives.resume(first));
    } else {
      share.takeBack(receiveCompletionQueue);
    }
    flush.reset();
    if (device.inFlight() != null) {
      device.inFlight().ringWaiting(); // with what this one has given back
    }
  }

  /** What carries out a transition: tables A1-1 and A1-2 of the interface document. */
  private static HcrCommand command(QpState from, QpState to) {
    return switch (to) {
      case RESET -> HcrCommand.ERR2RST;
      case INIT -> from == QpState.RESET ? HcrCommand.RST2INIT : HcrCommand.INIT2INIT;
      case RTR -> HcrCommand.INIT2RTR;
      case RTS ->
          switch (from) {
            case RTR -> HcrCommand.RTR2RTS;
            case SQE -> HcrCommand.SQERR2RTS;
            case SQD -> HcrCommand.SQD2RTS;
            default -> HcrCommand.RTS2RTS;
          };
      case ERR -> HcrCommand.ANY2ERR;
      case SQD -> from == QpState.SQD ? HcrCommand.SQD2SQD : HcrCommand.RTS2SQD;
      case SQE -> throw new IllegalArgumentException(to.toString());
    };
  }

  @Override
  public synchronized QpAttributes query() {
    checkOpen();
    device.health().check();
    boolean shows = errorFlow != null || device.limits().profile().queryQpReliable();
    if (state == QpState.RESET || !shows) {
      return QpContexts.attributes(context, state);
    }
    try {
      if (errorFlow != null) {
        if (errorFlow.showsError()) {
          failedSilently();
        }
        return QpContexts.attributes(context, state);
      }
      QpState before = state;
      QueuePairContext live = device.commands().queryQp(number);
      QpState now = QpContexts.state(live);
      if (now == QpState.ERR) {
        failed();
        tellShare();
      } else if (now == QpState.SQE || before == QpState.SQE) {
        change(before, now); // from it: an old error was polled after the recovery
      }
      return QpContexts.attributes(live, now);
    } catch (RuntimeException e) {
      throw Failures.of("cannot query " + describe(), e);
    }
  }

  @Override
  public void addTo(ContextCounters counters) {
    // What the shared queue deals, and deals again, was posted to it.
    long received = share == null ? receives.posted() + flush.receivesPosted() : 0;
    counters.add(sends.posted() + flush.sendsPosted(), received, sends.doorbells());
  }

  @Override
  synchronized void release() {
    QpState last = state;
    enter(QpState.RESET);
    if (share != null) {
      share.leave();
    }
    pd.deviceContext().countNoMore(this);
    pd.deviceContext().forgetEvents(this);
    device
        .deferredFree()
        .retire(
            describe(),
            () -> {
              if (last != QpState.RESET) {
                endForGood();
                giveBackByError(last);
                device
                    .commands()
                    .modifyQp(
                        HcrCommand.ERR2RST,
                        number,
                        QpContexts.forCard(QpContexts.reset(context), device));
                device.events().settle();
              }
              forget();
            },
            memory::close,
            this::freeNumbers);
  }

  /** Nothing of a card that flushes nothing is under way any more when this returns. */
  private void endForGood() {
    if (errorFlow == null) {
      return;
    }
    try {
      errorFlow.end();
    } catch (RuntimeException e) {
      // It stays known under its number, so that what still comes is known to be late.
      flush.over();
      forget();
      device.qpNumbers().retire(number);
      throw e;
    }
  }

  private void freeNumbers() {
    device.queuePairs().remove(number);
    icm.close();
    sendCompletionQueue.unreserve(sendRequests);
    receiveCompletionQueue.unreserve(capabilities.receiveDepth());
    if (share != null) {
      share.queue().unreserve(receiveCompletionQueue);
    }
    if (errorFlow == null) {
      device.qpNumbers().free(number);
    } else {
      errorFlow.freeNumber(device.qpNumbers());
    }
  }
}
