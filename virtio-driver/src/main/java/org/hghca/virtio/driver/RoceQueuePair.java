package org.hghca.virtio.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.hghca.provider.Undo;
import org.hghca.provider.counters.Tally;
import org.hghca.provider.object.AbstractQueuePair;
import org.hghca.provider.object.DriverState;
import org.hghca.provider.queue.LockRank;
import org.hghca.provider.queue.OwnerCheck;
import org.hghca.provider.queue.SpinLock;
import org.hghca.provider.srq.ReceiveShare;
import org.hghca.provider.srq.SharedQueue;
import org.hghca.provider.srq.SoftwareSrq;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpAttribute;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;
import org.hghca.vfio.VfioException;
import org.hghca.virtio.VirtioException;
import org.hghca.virtio.abi.roce.CreateQp;
import org.hghca.virtio.abi.roce.ModifyQp;
import org.hghca.virtio.abi.roce.QpAttributeMask;
import org.hghca.virtio.abi.roce.QpCapacity;
import org.hghca.virtio.abi.roce.QpType;
import org.hghca.virtio.abi.roce.QueryQp;
import org.hghca.virtio.abi.roce.RoceCommand;

/** A queue pair: the device has its transport and flushes its requests. */
final class RoceQueuePair extends AbstractQueuePair<RoceCompletionQueue> {
  private final RoceProtectionDomain pd;
  private final RoceDevice device;
  private final int number;
  private final SendQueue sends;
  private final ReceiveQueue receives;

  /** Null for a queue pair with its own receives. */
  private final ReceiveShare share;

  private final DriverState state = new DriverState();
  private QpAttributes known = new QpAttributes();

  /** The number of the queue pair that it is connected to. */
  private volatile int peer;

  RoceQueuePair(RoceProtectionDomain pd, QueuePairConfig config) {
    super(pd, config, RoceCompletionQueue.class);
    this.pd = pd;
    this.device = pd.device();
    SoftwareSrq shared = SharedQueue.of(config, pd).map(SoftwareSrq.class::cast).orElse(null);
    QueuePairCapabilities sizes = sizes(config, shared);
    try (Undo undo = new Undo()) {
      undo.add(this::abandon);
      check(sizes);
      checkOwner();
      reserve(sizes.sendDepth(), undo);
      if (shared != null) {
        receiveCompletionQueue().shareReceives();
      }
      Numbers.WorkQueues created = create(config, sizes);
      this.number = created.number();
      undo.add(() -> device.numbers().destroyQueuePair(number, () -> {}));
      checkNumber();
      if (created.sends().size() < sizes.sendDepth()
          || created.receives().size() < sizes.receiveDepth()) {
        throw new VerbsException(
            Errno.EINVAL,
            "%d sends and %d receives: the queues of the device have %d and %d"
                .formatted(
                    sizes.sendDepth(),
                    sizes.receiveDepth(),
                    created.sends().size(),
                    created.receives().size()));
      }
      boolean single = config.isSingleOwner();
      OwnerCheck sendOwner = single ? new OwnerCheck("the send queue of " + describe()) : null;
      OwnerCheck owner = single ? new OwnerCheck("the receive queue of " + describe()) : null;
      this.sends = new SendQueue(device, created.sends(), pd, type(), capabilities(), sendOwner);
      undo.add(sends::close);
      SpinLock lock = single ? null : new SpinLock(LockRank.RECEIVES);
      this.receives =
          new ReceiveQueue(
              device.function(),
              created.receives(),
              sizes.receiveDepth(),
              sizes.maxReceiveSge(),
              shared == null ? lock : shared.receiveLock(),
              shared == null ? owner : null);
      undo.add(receives::close);
      this.share =
          shared == null ? null : shared.share(this, new DealtReceives(receives, device.health()));
      device.numbers().add(this);
      finish();
      undo.forget();
    } catch (RuntimeException e) {
      throw Refusals.of("cannot create a queue pair", e);
    }
  }

  /** What its queues have room for. */
  private static QueuePairCapabilities sizes(QueuePairConfig config, SoftwareSrq shared) {
    QueuePairCapabilities own = config.capabilities();
    return shared == null
        ? own
        : new QueuePairCapabilities(
            own.sendDepth(), shared.capacity(), own.maxSendSge(), shared.maxSge(), own.maxInline());
  }

  private void check(QueuePairCapabilities sizes) {
    Limits limits = device.limits();
    check("sendDepth", sizes.sendDepth(), limits.maxQpWr());
    check("receiveDepth", sizes.receiveDepth(), limits.maxQpWr());
    check("maxSendSge", sizes.maxSendSge(), limits.maxSendSge());
    check("maxReceiveSge", sizes.maxReceiveSge(), limits.maxReceiveSge());
    check("maxInline", sizes.maxInline(), Limits.MAX_INLINE);
  }

  private static void check(String what, int value, int most) {
    if (value < 0 || value > most) {
      throw new VerbsException(
          Errno.EINVAL, "%s %d: the device takes 0 to %d".formatted(what, value, most));
    }
  }

  /** Of two at once, the device refuses the second. */
  private void checkOwner() {
    if (isGsi() && device.numbers().queuePair(GSI_NUMBER) != null) {
      throw gsiInUse();
    }
  }

  private Numbers.WorkQueues create(QueuePairConfig config, QueuePairCapabilities sizes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = arena.allocate(CreateQp.SIZE);
      CreateQp.PDN.set(data, 0, pd.number());
      CreateQp.QP_TYPE.set(data, 0, typeCode(config));
      CreateQp.SQ_SIG_ALL.set(data, 0, config.isSignalAll() ? 1 : 0);
      CreateQp.SEND_CQN.set(data, 0, sendCompletionQueue().number());
      CreateQp.RECV_CQN.set(data, 0, receiveCompletionQueue().number());
      QpCapacity.MAX_SEND_WR.set(data, CreateQp.CAPACITY, sizes.sendDepth());
      QpCapacity.MAX_RECV_WR.set(data, CreateQp.CAPACITY, sizes.receiveDepth());
      QpCapacity.MAX_SEND_SGE.set(data, CreateQp.CAPACITY, sizes.maxSendSge());
      QpCapacity.MAX_RECV_SGE.set(data, CreateQp.CAPACITY, sizes.maxReceiveSge());
      QpCapacity.MAX_INLINE_DATA.set(data, CreateQp.CAPACITY, sizes.maxInline());
      return device.numbers().createQueuePair(data);
    }
  }

  private static int typeCode(QueuePairConfig config) {
    return switch (config.type()) {
      case RC -> QpType.RC;
      case UC -> QpType.UC;
      case UD -> config.isGsi() ? QpType.GSI : QpType.UD;
    };
  }

  private void checkNumber() {
    if (isGsi() != (number == GSI_NUMBER)) {
      throw new VerbsException(
          Errno.EIO, "the device gave the number %d to this queue pair".formatted(number));
    }
  }

  @Override
  protected String standing() {
    return standing(sends.standing(), receives.standing());
  }

  SendQueue sends() {
    return sends;
  }

  ReceiveQueue receives() {
    return receives;
  }

  /** The number of the queue pair that it is connected to, for the completions of its receives. */
  int peer() {
    return peer;
  }

  @Override
  protected ReceiveShare share() {
    return share;
  }

  /** Whether its requests of a direction complete into a queue. */
  boolean completesInto(RoceCompletionQueue queue, boolean isReceive) {
    return queue == (isReceive ? receiveCompletionQueue() : sendCompletionQueue());
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public QpState state() {
    return state.get();
  }

  // ---- posting

  @Override
  public boolean tryPostSend(SendRequest request) {
    return post(request, true);
  }

  @Override
  public boolean tryEnqueueSend(SendRequest request) {
    return post(request, request.isFenced());
  }

  /** Posts a send; the device sees it at once, or when the queue is full or flushed. */
  private boolean post(SendRequest request, boolean starts) {
    sends.lock();
    try {
      checkTakesSends();
      boolean posted = sends.post(request, 0);
      if (starts || !posted) {
        sends.kick();
      }
      return posted;
    } catch (VirtioException | VfioException | InternalError e) {
      throw failed(e);
    } finally {
      sends.unlock();
    }
  }

  @Override
  public int tryPostSend(SendRequest[] requests, int from, int count) {
    Objects.checkFromIndexSize(from, count, requests.length);
    sends.lock();
    try {
      checkTakesSends();
      return postAll(requests, from, count);
    } catch (VirtioException | VfioException | InternalError e) {
      throw failed(e);
    } finally {
      sends.unlock();
    }
  }

  private int postAll(SendRequest[] requests, int from, int count) {
    int posted = 0;
    try {
      while (posted < count && sends.post(requests[from + posted], posted)) {
        posted++;
      }
      return posted;
    } finally {
      sends.kick(); // also those before a bad one
    }
  }

  @Override
  public void flushSends() {
    sends.lock();
    try {
      if (state() != QpState.RESET) {
        sends.kick();
      }
    } catch (VirtioException | VfioException | InternalError e) {
      throw failed(e);
    } finally {
      sends.unlock();
    }
  }

  @Override
  public boolean tryPostReceive(ReceiveRequest request) {
    receives.lock();
    try {
      checkTakesReceives();
      boolean posted = receives.post(request, 0);
      receives.kick();
      return posted;
    } catch (VirtioException | VfioException | InternalError e) {
      throw failed(e);
    } finally {
      receives.unlock();
    }
  }

  @Override
  public int tryPostReceive(ReceiveRequest[] requests, int from, int count) {
    Objects.checkFromIndexSize(from, count, requests.length);
    receives.lock();
    try {
      checkTakesReceives();
      return postAll(requests, from, count);
    } catch (VirtioException | VfioException | InternalError e) {
      throw failed(e);
    } finally {
      receives.unlock();
    }
  }

  private int postAll(ReceiveRequest[] requests, int from, int count) {
    int posted = 0;
    try {
      while (posted < count && receives.post(requests[from + posted], posted)) {
        posted++;
      }
      return posted;
    } finally {
      receives.kick(); // also those before a bad one
    }
  }

  private void checkTakesSends() {
    QpState now = state();
    if (now == QpState.RESET
        || now == QpState.INIT
        || now == QpState.RTR
        || device.health().isDead()) {
      throw wrongState("send", 0);
    }
  }

  private void checkTakesReceives() {
    if (state() == QpState.RESET || device.health().isDead()) {
      throw wrongState("receive", 0);
    }
    if (share != null) {
      throw receivesAreShared();
    }
  }

  private BadRequestException failed(Throwable e) {
    device.health().fail(e.getMessage());
    return new BadRequestException(Errno.EIO, 0, e.getMessage());
  }

  // ---- states

  /** A request has failed; under the lock of a completion queue. */
  void failed(int status, boolean isReceive) {
    boolean isFlushed = status == WcStatus.WR_FLUSH_ERR.code();
    boolean stopsSendsOnly = type() != org.hghca.verbs.QpType.RC && !isReceive && !isFlushed;
    if (stopsSendsOnly) {
      state.change(QpState.RTS, QpState.SQE);
    } else if (isReceive || !isFlushed) {
      state.fail();
    }
  }

  @Override
  protected void change(QpState from, QpState to, QpAttributes attributes) {
    QpAttributes next =
        KnownAttributes.with(to == QpState.RESET ? new QpAttributes() : known, attributes);
    KnownAttributes.label(next, pd.context().entropy(), number);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = arena.allocate(ModifyQp.SIZE);
      int mask =
          new ModifyCommand(this, pd.context().port(), device.limits(), data)
              .put(attributes, next, to);
      if (attributes.has(QpAttribute.DEST_QPN)) {
        peer = attributes.destinationQpn(); // before the device receives from it
      }
      if (to == QpState.RESET) {
        reset(data);
      } else if (mask != 0) {
        give(data, to);
        state.change(from, to);
      }
    }
    known = next;
  }

  private void give(MemorySegment data, QpState to) {
    device
        .commands()
        .give(
            RoceCommand.MODIFY_QP,
            data,
            Errno.EINVAL,
            "%s, from %s to %s".formatted(describe(), state(), to));
  }

  private void reset(MemorySegment data) {
    QpState from = enterReset();
    try {
      give(data, QpState.RESET);
    } catch (VerbsException e) {
      state.set(from);
      throw e;
    }
    drop();
  }

  @Override
  protected QpState enterReset() {
    receives.lock();
    sends.lock();
    QpState from = state.set(QpState.RESET);
    sends.unlock();
    receives.unlock();
    return from;
  }

  /** The device has dropped its requests: their completions are dropped, too. */
  private void drop() {
    sendCompletionQueue().drop(this, sends::clear);
    if (share == null) {
      receiveCompletionQueue().drop(this, receives::clear);
    } else {
      share.reclaim(then -> receiveCompletionQueue().drop(this, then));
    }
  }

  @Override
  protected QpAttributes attributesNow() {
    refresh();
    return KnownAttributes.with(known, new QpAttributes()).state(state()).currentState(state());
  }

  /** Takes over the state that the device is in. */
  private void refresh() {
    QpState before = state();
    if (before == QpState.RESET) {
      return;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = arena.allocate(QueryQp.SIZE);
      QueryQp.QPN.set(data, 0, number);
      QueryQp.ATTR_MASK.set(data, 0, QpAttributeMask.STATE);
      MemorySegment answer = arena.allocate(org.hghca.virtio.abi.roce.QpAttributes.SIZE);
      device.commands().give(RoceCommand.QUERY_QP, data, answer, Errno.EINVAL, describe());
      int code = org.hghca.virtio.abi.roce.QpAttributes.QP_STATE.get(answer, 0);
      if (code >= QpState.values().length) {
        throw new VerbsException(
            Errno.EIO, "%s is in state %d, which does not exist".formatted(describe(), code));
      }
      state.change(before, QpState.values()[code]);
    }
  }

  // ---- life cycle

  @Override
  protected void addWork(Tally sum) {
    // The shared queue counts the requests that it deals, also repeatedly.
    long received = share == null ? receives.posted() : 0;
    sum.addRequests(sends.posted(), received, sends.kicks() + receives.kicks());
    sum.addBytes(sends.sentBytes(), sends.readBytes(), receives.receivedBytes());
  }

  @Override
  protected long failures() {
    return sends.failures() + receives.failures();
  }

  @Override
  protected void destroy(QpState last) {
    device.numbers().destroyQueuePair(number, this::drop);
  }

  @Override
  protected void freeMemory() {
    sends.close();
    receives.close();
  }
}
