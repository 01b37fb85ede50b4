package org.hghca.driver;

import java.util.ArrayDeque;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.QueuePairContext;
import org.hghca.icm.IcmRange;
import org.hghca.icm.IcmTable;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpTransitions;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairAttributes;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;

/**
 * A queue pair. MODIFY_QP replaces the whole context in the card, so the driver keeps all of it and
 * sends all of it each time.
 */
final class HghcaQueuePair extends Resource implements QueuePair {
  private final HghcaProtectionDomain pd;
  private final HghcaDevice device;
  private final QpType type;
  private final HghcaCompletionQueue sendQueue;
  private final HghcaCompletionQueue receiveQueue;
  private final QueuePairCapabilities capabilities;
  private final int number;
  private final IcmRange icm;
  private final Registrar.Registration sendMemory;
  private final Registrar.Registration receiveMemory;
  private final SendRing sends;
  private final ReceiveRing receives;

  /** Null for a queue pair that one thread owns. */
  private final SpinLock receiveLock;

  /** The wr_ids of receives posted in state ERR, which the card has not seen. */
  private final ArrayDeque<Long> flushed = new ArrayDeque<>();

  private QueuePairContext context;
  private volatile QpState state = QpState.RESET;

  HghcaQueuePair(HghcaProtectionDomain pd, QueuePairAttributes attributes) {
    super(pd, own(pd, attributes.sendQueue()), own(pd, attributes.receiveQueue()));
    this.pd = pd;
    this.device = pd.device();
    this.type = attributes.type();
    this.sendQueue = own(pd, attributes.sendQueue());
    this.receiveQueue = own(pd, attributes.receiveQueue());
    this.capabilities = attributes.capabilities();
    this.receiveLock = attributes.isSingleOwner() ? null : new SpinLock();
    try (Undo undo = new Undo()) {
      undo.add(this::abandon);
      if (type != QpType.RC) {
        throw new VerbsException(
            Errno.EOPNOTSUPP, "queue pairs of type %s are not supported".formatted(type));
      }
      QueueGeometry geometry = QueueGeometry.of(device.limits(), capabilities);
      sendQueue.reserve(capabilities.sendDepth());
      undo.add(() -> sendQueue.unreserve(capabilities.sendDepth()));
      receiveQueue.reserve(capabilities.receiveDepth());
      undo.add(() -> receiveQueue.unreserve(capabilities.receiveDepth()));
      this.number = device.qpNumbers().allocate();
      undo.add(() -> device.qpNumbers().free(number));
      this.icm = device.icm().reserve(IcmTable.QPC, number, 1);
      undo.add(icm::close);
      this.sendMemory = device.registerQueue(geometry.sendBytes(), pd.number(), 0);
      undo.add(sendMemory::close);
      this.receiveMemory = device.registerQueue(geometry.receiveBytes(), pd.number(), 0);
      undo.add(receiveMemory::close);
      this.sends =
          new SendRing(
              sendMemory.mapping().segment(),
              pd.deviceContext().uar(),
              number,
              capabilities.sendDepth(),
              geometry.sendSlots(),
              geometry.sendStrideLog(),
              capabilities.maxSendSge(),
              capabilities.maxInline(),
              attributes.isSignalAll(),
              attributes.isSingleOwner() ? null : new SpinLock(),
              () -> wrongState("send", 0));
      this.receives =
          new ReceiveRing(
              receiveMemory.mapping().segment(),
              number,
              capabilities.receiveDepth(),
              geometry.receiveSlots(),
              geometry.receiveStrideLog(),
              capabilities.maxReceiveSge());
      this.context = QpContexts.fresh(this, geometry);
      device.queuePairs().put(number, this);
      undo.forget();
    } catch (RuntimeException e) {
      throw Failures.of("cannot create a queue pair", e);
    }
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

  int sendKey() {
    return sendMemory.key();
  }

  int receiveKey() {
    return receiveMemory.key();
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
  public HghcaCompletionQueue sendQueue() {
    return sendQueue;
  }

  @Override
  public HghcaCompletionQueue receiveQueue() {
    return receiveQueue;
  }

  // ---- posting

  @Override
  public boolean tryPostSend(SendRequest request) {
    return sends.post(request);
  }

  @Override
  public int tryPostSend(SendRequest[] requests, int from, int count) {
    return sends.post(requests, from, count);
  }

  @Override
  public boolean tryPostReceive(ReceiveRequest request) {
    return tryPostReceive(request, 0);
  }

  @Override
  public int tryPostReceive(ReceiveRequest[] requests, int from, int count) {
    int posted = 0;
    while (posted < count && tryPostReceive(requests[from + posted], posted)) {
      posted++;
    }
    return posted;
  }

  private boolean tryPostReceive(ReceiveRequest request, int index) {
    lockReceives();
    try {
      QpState now = state;
      if (now == QpState.ERR) {
        return postFlushedReceive(request);
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
    device.health().check();
    return new BadRequestException(
        Errno.EINVAL,
        index,
        isClosed()
            ? describe() + " is closed"
            : "%s is in %s and takes no %s requests".formatted(describe(), state, what));
  }

  // ---- what completions tell

  /**
   * The card reported an error: the queue pair is in ERR, and so is what follows. Called under a
   * completion queue's lock, so it must not take the receive lock, whose holders take that one.
   */
  void failed() {
    if (state != QpState.ERR) {
      state = QpState.ERR;
      sends.setOpen(true);
    }
  }

  boolean hasFailed() {
    return state == QpState.ERR;
  }

  private boolean postFlushedReceive(ReceiveRequest request) {
    synchronized (flushed) {
      if (receives.outstanding() + flushed.size() >= capabilities.receiveDepth()) {
        return false;
      }
      flushed.addLast(request.wrId());
    }
    receiveQueue.addFlushing(this);
    return true;
  }

  /** Completes receives posted in ERR, when the card has completed those before them. */
  int flushReceives(Completions out, int from, int max) {
    int count = from;
    synchronized (flushed) {
      while (count < max && !flushed.isEmpty() && receives.outstanding() == 0) {
        out.set(
            count++,
            flushed.removeFirst(),
            WcStatus.WR_FLUSH_ERR.code(),
            WcOpcode.RECV.code(),
            0,
            0,
            0,
            number,
            0,
            0);
      }
    }
    return count;
  }

  boolean hasFlushedReceives() {
    synchronized (flushed) {
      return !flushed.isEmpty();
    }
  }

  // ---- states

  @Override
  public synchronized void modify(QpAttributes attributes) {
    checkOpen();
    device.health().check();
    QpState from = state;
    QpState to = QpTransitions.check(type, from, attributes);
    if (to == QpState.SQD || from == QpState.SQD) {
      throw new VerbsException(Errno.EOPNOTSUPP, "draining the send queue is not supported");
    }
    if (from == QpState.RESET && to == QpState.RESET) {
      return;
    }
    QueuePairContext next = context.copy();
    QpContexts.apply(attributes, to, next, pd.deviceContext());
    if (to == QpState.RESET) {
      next = QpContexts.reset(next);
    }
    // Before the card changes its mind the queues stop taking what it would not see any more.
    boolean stops = to == QpState.RESET || to == QpState.ERR;
    if (stops) {
      enter(to);
    }
    try {
      device.commands().modifyQp(command(from, to), number, next);
    } catch (RuntimeException e) {
      enter(from);
      throw Failures.of("cannot modify " + describe(), e);
    }
    context = next;
    if (to == QpState.RESET) {
      forget();
    } else if (!stops) {
      enter(to);
    }
  }

  /** Changes the state between two requests, not within one. */
  private void enter(QpState to) {
    lockReceives();
    state = to;
    unlockReceives();
    sends.setOpen(to == QpState.RTS || to == QpState.ERR);
  }

  private void forget() {
    sendQueue.drop(this, sends::reset);
    receiveQueue.drop(this, receives::reset);
    synchronized (flushed) {
      flushed.clear();
    }
  }

  private static HcrCommand command(QpState from, QpState to) {
    return switch (to) {
      case RESET -> HcrCommand.ERR2RST;
      case INIT -> from == QpState.RESET ? HcrCommand.RST2INIT : HcrCommand.INIT2INIT;
      case RTR -> HcrCommand.INIT2RTR;
      case RTS ->
          switch (from) {
            case RTR -> HcrCommand.RTR2RTS;
            case SQE -> HcrCommand.SQERR2RTS;
            default -> HcrCommand.RTS2RTS;
          };
      case ERR -> HcrCommand.ANY2ERR;
      case SQD, SQE -> throw new IllegalArgumentException(to.toString());
    };
  }

  @Override
  public synchronized QpAttributes query() {
    checkOpen();
    device.health().check();
    if (state == QpState.RESET) {
      return QpContexts.attributes(context, QpState.RESET);
    }
    try {
      QueuePairContext live = device.commands().queryQp(number);
      QpState now = QpContexts.state(live);
      if (now == QpState.ERR) {
        failed();
      }
      return QpContexts.attributes(live, now);
    } catch (RuntimeException e) {
      throw Failures.of("cannot query " + describe(), e);
    }
  }

  @Override
  synchronized void release() {
    QpState last = state;
    enter(QpState.RESET);
    device
        .retirement()
        .retire(
            describe(),
            () -> {
              if (last != QpState.RESET) {
                device.commands().modifyQp(HcrCommand.ERR2RST, number, QpContexts.reset(context));
              }
              forget();
            },
            this::freeMemory,
            this::freeNumbers);
  }

  private void freeMemory() {
    receiveMemory.close();
    sendMemory.close();
  }

  private void freeNumbers() {
    device.queuePairs().remove(number);
    icm.close();
    sendQueue.unreserve(capabilities.sendDepth());
    receiveQueue.unreserve(capabilities.receiveDepth());
    device.qpNumbers().free(number);
  }
}
