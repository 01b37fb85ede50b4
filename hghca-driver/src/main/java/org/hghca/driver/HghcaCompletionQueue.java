package org.hghca.driver;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.Optional;
import org.hghca.abi.BthOpcode;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.Cqe;
import org.hghca.abi.Doorbell;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.MptFlags;
import org.hghca.abi.WqeOpcode;
import org.hghca.icm.IcmRange;
import org.hghca.icm.IcmTable;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.spi.ProviderAccess;

/**
 * A completion queue. The card writes completions into its ring one behind the other and knows no
 * consumer index, so the ring has room for every request that the attached queues can have
 * outstanding; a request counts until its completion was polled. An empty place holds a sentinel in
 * its owner byte, which the card overwrites last, and which polling puts back.
 */
final class HghcaCompletionQueue extends Resource
    implements CompletionQueue, ContextCounters.Counted {
  /** Where the card gives none: RC on the first RTL. */
  private static final int NO_SYNDROME = 0;

  private static final int SOLICITED = 1;
  private static final int ALL = 2;

  /** What a look at a queue that may have something to tell has found. */
  enum Look {
    /** It has told, or was not asked. */
    DONE,
    /** Nothing has come since it was asked. */
    NOTHING,
    /** Nothing to tell has come, and the card was asked again: it is to be looked at again. */
    ASKED_AGAIN
  }

  private final DeviceContext context;
  private final HghcaDevice device;
  private final QpTable queuePairs;
  private final CompletionDecode decode;

  /** Whether a receive means what the document says, all the same on every card but the RTL. */
  private final boolean plain;

  /** Null for a card that takes any number of doorbells. */
  private final InFlightLimits inFlight;

  private final int number;
  private final IcmRange icm;
  private final Registrar.Registration memory;
  private final MemorySegment ring;
  private final int mask;
  private final SpinLock lock = new SpinLock();

  /** Queue pairs in error of which the driver completes something; usually none. */
  private final ArrayDeque<HghcaQueuePair> flushing = new ArrayDeque<>();

  private volatile boolean hasFlushing;

  /** What polling found of queue pairs that share receives, until it is told to who shares. */
  private ReceiveShare due;

  /** Null as {@link #inFlight}. */
  private final PendingDoorbells pendingDoorbells;

  private int index;

  /** As far as receives that nobody has polled were told of. */
  private int noted;

  /** Behind the last completion that is known to be there, polled or not; only where paced. */
  private int seen;

  /** Where the card would go on; known when it has forgotten the queue. */
  private int end;

  private HghcaQueuePair lastFound;
  private int entries;
  private int reserved;

  /** Null for a queue that is only polled. */
  private final HghcaCompletionChannel channel;

  /** What it was asked to tell and has not told yet: a sum of {@link #SOLICITED} and others. */
  private int asked;

  /** Where the completions begin that it was asked to tell of. */
  private int askedFrom;

  /** Behind what was polled last, silent completions not counted. */
  private int polledTo;

  /** Whether completions of queue pairs that are gone may still come. */
  private volatile boolean distrusted;

  /** How many completions were taken from the ring, silent ones included. */
  private long taken;

  /** By status, from the ring or not: those that were not successful. */
  private final long[] failures = new long[WcStatus.values().length];

  HghcaCompletionQueue(DeviceContext context, CompletionQueueConfig config) {
    super(used(context, config));
    this.context = context;
    this.channel = config.channel().map(HghcaCompletionChannel.class::cast).orElse(null);
    this.device = context.hghca();
    this.queuePairs = device.queuePairs();
    this.decode = new CompletionDecode(device.limits().profile());
    this.plain = decode.isPlain();
    this.inFlight = device.inFlight();
    this.pendingDoorbells = inFlight == null ? null : new PendingDoorbells();
    try (Undo undo = new Undo()) {
      undo.add(this::abandon);
      checkEntries(config.entries());
      int eqn = device.events().completionEqn(config.vector());
      this.entries = config.entries();
      int slots = ringEntries(config);
      this.mask = slots - 1;
      this.number = device.cqNumbers().allocate(slot -> slot < slots);
      undo.add(() -> device.cqNumbers().free(number));
      this.index = device.cqNumbers().position(number).orElse(0);
      this.icm = device.icm().reserve(IcmTable.CQC, number, 1);
      undo.add(icm::close);
      this.memory =
          device.registerQueue((long) slots * Cqe.SIZE, context.queuePd(), MptFlags.LOCAL_WRITE);
      undo.add(memory::close);
      this.ring = memory.mapping().segment();
      Cqe.fill(ring, 0, slots);
      device.commands().sw2hwCq(number, cqc(slots, eqn));
      device.add(this);
      context.count(this);
      publish();
      undo.forget();
    } catch (RuntimeException e) {
      throw Failures.of("cannot create a completion queue", e);
    }
  }

  private static Resource[] used(DeviceContext context, CompletionQueueConfig config) {
    if (config.channel().isEmpty()) {
      return new Resource[] {context};
    }
    if (config.channel().get() instanceof HghcaCompletionChannel channel
        && channel.context() == context) {
      return new Resource[] {context, channel};
    }
    throw new VerbsException(
        Errno.EINVAL,
        "the completion channel belongs to another context than %s".formatted(context.describe()));
  }

  private CompletionQueueContext cqc(int slots, int eqn) {
    return new CompletionQueueContext(
        0,
        0,
        Integer.numberOfTrailingZeros(slots),
        context.uar().index(),
        eqn,
        context.queuePd(),
        memory.key(),
        number);
  }

  private void checkEntries(int wanted) {
    int most = device.limits().maxCqEntries();
    if (wanted < 1 || wanted > most) {
      throw new VerbsException(
          Errno.EINVAL,
          "a completion queue of %d entries: the device takes 1 to %d".formatted(wanted, most));
    }
  }

  /**
   * How many completions the ring holds: as many as its creator asked for, and as many again where
   * each queue pair adds one of the driver's own.
   */
  private int ringEntries(CompletionQueueConfig config) {
    Limits limits = device.limits();
    int wanted = config.ringEntries();
    if (wanted == 0) {
      return limits.maxCqRing();
    }
    int most = Integer.highestOneBit(limits.maxCqEntries());
    if (Integer.bitCount(wanted) != 1 || wanted > most || wanted < config.entries()) {
      throw new VerbsException(
          Errno.EINVAL,
          "a completion ring of %d entries: it must be a power of two from %d to %d"
              .formatted(wanted, config.entries(), most));
    }
    return limits.ownElements() == 0 ? wanted : 2 * wanted;
  }

  int number() {
    return number;
  }

  /** Where the card writes. */
  MemorySegment ring() {
    return ring;
  }

  @Override
  String describe() {
    return "CQ 0x%x".formatted(number);
  }

  @Override
  public DeviceContext context() {
    return context;
  }

  @Override
  public int entries() {
    return entries;
  }

  /** Keeps room for all that a queue can have outstanding. */
  synchronized void reserve(int requests) {
    int left = mask + 1 - reserved;
    if (requests > left) {
      throw new VerbsException(
          Errno.ENOMEM,
          "%s has room for %d more outstanding requests, not %d: use another completion queue"
              .formatted(describe(), left, requests));
    }
    reserved += requests;
  }

  synchronized void unreserve(int requests) {
    reserved -= requests;
  }

  @Override
  public int poll(Completions out, int max) {
    if (max < 0) {
      throw new IllegalArgumentException("a poll for %d completions".formatted(max));
    }
    try {
      return pollRing(out, max);
    } catch (InternalError e) { // a doorbell faults when its card is gone
      throw new VerbsException(Errno.EIO, device.faulted(e));
    }
  }

  private int pollRing(Completions out, int max) {
    if (isEmpty()) {
      checkAlive();
      return 0;
    }
    int count;
    ReceiveShare found;
    lock.lock();
    try {
      checkAlive();
      int most = Math.min(max, out.capacity());
      int from = index;
      count = drain(out, most);
      taken += index - from;
      if (count != 0) {
        polledTo = index;
      }
      if (hasFlushing && count < most) {
        count = flush(out, count, most);
      }
      found = takeDue();
      ringDue();
    } finally {
      lock.unlock();
    }
    if (found != null) {
      SoftwareSrq.serveAll(found);
    }
    if (inFlight != null) {
      inFlight.ringWaiting();
    }
    return count;
  }

  /**
   * Whether there is nothing to take, without the lock. An empty place tells only when nobody has
   * gone beyond it meanwhile, who moves the index before emptying the place: who finds the queue
   * empty may wait for an event, which completions that are there already do not give.
   */
  private boolean isEmpty() {
    try {
      int at = index;
      return Cqe.owner(ring, place(at)) == Cqe.SENTINEL && !hasFlushing && at == index;
    } catch (IllegalStateException e) {
      checkOpen(); // the memory of a queue that is closed ends with its device
      throw e;
    }
  }

  /** The shares that a shared receive queue has to look at, once the lock is free. */
  private ReceiveShare takeDue() {
    ReceiveShare found = due;
    if (found != null) {
      due = null;
    }
    return found;
  }

  /** Rings for what was held back until now. Under the lock. */
  private void ringDue() {
    if (inFlight != null) {
      boolean _ = pendingDoorbells.ring();
    }
  }

  /** Two loads that the processor predicts: a poll of a closed queue or a dead device says so. */
  private void checkAlive() {
    checkOpen();
    device.health().check();
  }

  private int drain(Completions out, int max) {
    int count = 0;
    while (count < max) {
      long at = place(index);
      int last = Cqe.lastDword(ring, at);
      if (last >>> 24 == Cqe.SENTINEL) {
        break;
      }
      count += take(at, last, out, count);
    }
    return count;
  }

  /** Takes the completion at the index; returns whether it filled one of the caller's. */
  private int take(long at, int last, Completions out, int count) {
    int qpn = Cqe.qpn(ring, at);
    int sourceQp = Cqe.remoteQpn(ring, at);
    int immediate = Cqe.immediate(ring, at);
    int bytes = Cqe.byteCount(ring, at);
    int wqe = Cqe.wqeOffset(ring, at);
    index++;
    // Whoever sees the place empty sees that the queue goes on behind it.
    VarHandle.storeStoreFence();
    // The place is empty before the request's slot is free: a request posted into that slot may
    // complete into this very place.
    Cqe.arm(ring, at);
    HghcaQueuePair qp = lastFound;
    if (qp == null || qp.number() != qpn) {
      qp = queuePairs.find(qpn);
      if (qp == null) {
        return unexpected(qpn, wqe, last);
      }
      lastFound = qp;
    }
    int opcode = last & 0xff;
    boolean send = (last >>> 8 & 0xff) != 0;
    if (opcode == WqeOpcode.INVALID) {
      // In an error completion the dword of the immediate holds syndrome and vendor error.
      return error(qp, send, wqe, immediate, out, count);
    }
    if (send) {
      if (!qp.sends().isOldest(wqe)) {
        return unexpected(qp, true, wqe, last);
      }
      if (inFlight != null && qp.sends().completePiece(wqe)) {
        pendingDoorbells.add(qp.sends());
        return 0;
      }
      return complete(qp.sends(), out, count, 0, 0, bytes);
    }
    if (!plain) {
      return takeFromRtl(qp, last, sourceQp, immediate, bytes, wqe, out, count);
    }
    Receives receives = qp.receiver();
    if (!receives.expects(wqe)) {
      return unexpected(qp, false, wqe, last);
    }
    ProviderAccess.get()
        .fill(
            out,
            count,
            receives.take(wqe),
            0,
            receiveOpcode(opcode),
            qp.receiveFlags() | (BthOpcode.hasImmediate(opcode) ? Completions.WITH_IMM : 0),
            0,
            bytes,
            qpn,
            immediate,
            sourceQp);
    due = receives.due(due);
    return 1;
  }

  /** What a receive is called in its completion, by the operation that it has met. */
  private static int receiveOpcode(int opcode) {
    boolean written = BthOpcode.isWriteImmediate(opcode);
    return (written ? WcOpcode.RECV_RDMA_WITH_IMM : WcOpcode.RECV).code();
  }

  private int complete(
      SendRing sends, Completions out, int count, int status, int vendorError, int bytes) {
    int filled = sends.complete(out, count, status, vendorError, bytes);
    if (inFlight != null) {
      pendingDoorbells.add(sends);
    }
    return filled;
  }

  /**
   * Takes what is not marked as of a send from the RTL: a receive, without its immediate, or an
   * error in disguise. Receives are taken in order: what the completion says of their place is not
   * to be believed.
   */
  private int takeFromRtl(
      HghcaQueuePair qp,
      int last,
      int sourceQp,
      int cause,
      int bytes,
      int wqe,
      Completions out,
      int count) {
    int opcode = Cqe.opcode(last);
    if (decode.isSendError(opcode, sourceQp, bytes)) {
      return error(qp, true, wqe, cause, out, count);
    }
    if (qp.receives().isFlushed() || qp.receives().outstanding() == 0) {
      return unexpected(qp, false, wqe, last);
    }
    qp.errorFlow().received(bytes);
    ProviderAccess.get()
        .fill(
            out,
            count,
            qp.receives().takeOldest(),
            0,
            receiveOpcode(opcode),
            qp.receiveFlags() | decode.immediateFlags(opcode),
            0,
            bytes + qp.bytesBeforeReceived(),
            qp.number(),
            0,
            sourceQp);
    return 1;
  }

  private int error(
      HghcaQueuePair qp, boolean marked, int wqe, int cause, Completions out, int count) {
    int syndrome = CompletionDecode.syndrome(cause);
    boolean send = marked || isSendError(qp, wqe);
    Receives receives = qp.receiver();
    if (!(send ? qp.sends().isOldest(wqe) : receives.expects(wqe))) {
      return unexpected(qp, send, wqe, WqeOpcode.INVALID);
    }
    WcStatus status =
        syndrome == NO_SYNDROME
            ? qp.flush().unknownCause(qp.hasFailed(send))
            : CompletionStatus.of(syndrome);
    int vendorError = SoftwareFlush.vendorError(status, cause >>> 8 & 0xff);
    qp.failed(send, status);
    int filled;
    if (send) {
      failures[status.code()]++;
      filled = complete(qp.sends(), out, count, status.code(), vendorError, 0);
    } else if (receives.keepsFlushed() && status == WcStatus.WR_FLUSH_ERR) {
      receives.keep(wqe);
      filled = 0;
    } else {
      failures[status.code()]++;
      int receive = WcOpcode.RECV.code();
      long wrId = receives.take(wqe);
      ProviderAccess.get()
          .fill(out, count, wrId, status.code(), receive, 0, vendorError, 0, qp.number(), 0, 0);
      filled = 1;
    }
    // Last: whoever serves a share already has to see all of this, or hear of it again.
    due = receives.due(due);
    return filled;
  }

  /**
   * The document leaves the direction out of an error completion; the software HCA marks sends.
   * Where the mark is missing the queue decides, else the element's offset; the revisions in
   * hardware report errors of sends only.
   */
  private boolean isSendError(HghcaQueuePair qp, int wqe) {
    if (!decode.reportsReceiveErrors()) {
      return true;
    }
    boolean sendsHere = qp.sendCompletionQueue() == this;
    boolean receivesHere = qp.receiveCompletionQueue() == this;
    if (sendsHere != receivesHere) {
      return sendsHere;
    }
    return !qp.receiver().expects(wqe);
  }

  /** A completion that fits no request, unless one that was completed here before. */
  private int unexpected(HghcaQueuePair qp, boolean send, int wqe, int last) {
    if (send && qp.sends().takeFlush(wqe)) {
      return 0;
    }
    if (qp.flush().takeLate(send)) {
      device.completedLate();
      return 0;
    }
    return unexpected(qp.number(), wqe, last);
  }

  private int unexpected(int qpn, int wqe, int last) {
    if (decode.zerosBreak() && qpn == 0 && wqe == 0 && last == 0) {
      device
          .health()
          .fail(describe() + " holds a completion of zeros: a zero-length message broke the card");
      return 0;
    }
    device
        .health()
        .fail(
            "%s holds a completion that fits no request: QPN 0x%x, WQE 0x%x, last dword 0x%08x"
                .formatted(describe(), qpn, wqe, last));
    return 0;
  }

  /** Completes what the driver flushes of queue pairs in error, behind all of the card's. */
  private int flush(Completions out, int from, int max) {
    int count = from;
    for (int left = flushing.size(); left > 0 && count < max; left--) {
      HghcaQueuePair qp = flushing.removeFirst();
      count = qp.flush().complete(this, out, count, max, failures);
      if (!qp.flush().isEmpty()) {
        flushing.addLast(qp);
      }
    }
    hasFlushing = !flushing.isEmpty();
    taken += count - from;
    return count;
  }

  /** A queue pair in error has something that the driver flushes. */
  void addFlushing(HghcaQueuePair qp) {
    boolean tells;
    ReceiveShare found;
    lock.lock();
    try {
      if (!flushing.contains(qp)) {
        flushing.addLast(qp);
      }
      hasFlushing = true;
      tells = asked != 0 && hasPollable();
      if (tells) {
        asked = 0;
      }
      found = takeDue();
      ringDue();
    } finally {
      lock.unlock();
    }
    SoftwareSrq.serveAll(found);
    if (inFlight != null) {
      inFlight.ringWaiting();
    }
    if (tells) {
      channel.give(this);
    }
  }

  /**
   * Drops what a queue pair has left here. Its completions are taken out of the ring and those of
   * others close up behind, so that the places that it reserved are free at once. The card must
   * have ended with it; it does not know where we read.
   *
   * @param then is done under the same lock
   */
  void drop(HghcaQueuePair qp, Runnable then) {
    lock.lock();
    try {
      int end = index + unpolled();
      dropReceives(qp, end);
      int first = end;
      for (int i = end - 1; i - index >= 0; i--) {
        if (Cqe.qpn(ring, place(i)) != qp.number()) {
          first--;
          MemorySegment.copy(ring, place(i), ring, place(first), Cqe.SIZE);
        }
      }
      int old = index;
      index = first;
      noted = first; // what others have left has moved
      seen = first;
      VarHandle.storeStoreFence(); // as in taking one
      for (; old != first; old++) {
        Cqe.arm(ring, place(old));
      }
      flushing.remove(qp);
      hasFlushing = !flushing.isEmpty();
      lastFound = null;
      then.run();
    } finally {
      lock.unlock();
    }
  }

  private void dropReceives(HghcaQueuePair qp, int end) {
    for (int i = index; i != end; i++) {
      long at = place(i);
      if (Cqe.qpn(ring, at) == qp.number() && isReceive(qp, at)) {
        qp.receiver().drop(Cqe.wqeOffset(ring, at));
      }
    }
  }

  /** Whether a completion of a card that marks sends is one of a receive. */
  private boolean isReceive(HghcaQueuePair qp, long at) {
    int last = Cqe.lastDword(ring, at);
    boolean failed = Cqe.opcode(last) == WqeOpcode.INVALID;
    return !Cqe.isSend(last) && !(failed && isSendError(qp, Cqe.wqeOffset(ring, at)));
  }

  /**
   * Tells of the receives that stand here and nobody has polled, those that it has told of before
   * left out. Only where queue pairs share receives.
   */
  void noteReceives() {
    if (isEmpty()) {
      return;
    }
    lock.lock();
    try {
      int end = index + unpolled();
      for (int i = noted - index > 0 ? noted : index; end - i > 0; i++) {
        long at = place(i);
        HghcaQueuePair qp = queuePairs.find(Cqe.qpn(ring, at));
        if (qp != null && isReceive(qp, at)) {
          qp.receiver().note(Cqe.wqeOffset(ring, at));
        }
      }
      noted = end;
    } finally {
      lock.unlock();
    }
  }

  /** Whether nothing of the card stands here. Under the lock. */
  boolean isDrained() {
    return Cqe.owner(ring, place(index)) == Cqe.SENTINEL;
  }

  /** What stands here of a queue pair, and how far its sends are, if they complete here. */
  OutstandingWork outstandingWork(HghcaQueuePair qp) {
    lock.lock();
    try {
      int sends = 0;
      int receives = 0;
      int packets = 0;
      for (int end = index + unpolled(), i = index; i != end; i++) {
        long at = place(i);
        if (Cqe.qpn(ring, at) != qp.number()) {
          continue;
        }
        if (isSend(at)) {
          sends++;
        } else {
          receives++;
          packets += qp.errorFlow().packets(Cqe.byteCount(ring, at));
        }
      }
      int outstanding = qp.sends().rung() + qp.flush().awaited();
      return new OutstandingWork(
          sends,
          packets,
          outstanding - sends,
          qp.sends().tail() + sends + qp.sends().pieces(),
          qp.receives().onCard() - receives,
          qp.receives().position(receives));
    } finally {
      lock.unlock();
    }
  }

  private boolean isSend(long at) {
    int last = Cqe.lastDword(ring, at);
    int opcode = Cqe.opcode(last);
    return Cqe.isSend(last)
        || opcode == WqeOpcode.INVALID
        || decode.isSendError(opcode, Cqe.remoteQpn(ring, at), Cqe.byteCount(ring, at));
  }

  /** The card may go on writing here for queue pairs that are gone. */
  void distrust() {
    distrusted = true;
  }

  /**
   * Rings for what waits for requests whose completions stand here: a program that waits for
   * something else first has its requests carried out all the same. Only where paced.
   *
   * @return whether there was anything new
   */
  boolean goOn() {
    lock.lock();
    try {
      if (isClosed()) {
        return false;
      }
      lookAhead();
      return pendingDoorbells.ring();
    } finally {
      lock.unlock();
    }
  }

  private void lookAhead() {
    int at = seen - index > 0 ? seen : index;
    for (; at - index <= mask; at++) {
      long place = place(at);
      if (Cqe.owner(ring, place) == Cqe.SENTINEL) {
        break;
      }
      HghcaQueuePair qp = queuePairs.find(Cqe.qpn(ring, place));
      if (qp == null || qp.sendCompletionQueue() != this || !isSend(place)) {
        continue;
      }
      SendRing sends = qp.sends();
      if (Cqe.isSend(Cqe.lastDword(ring, place))
          && sends.completePiece(Cqe.wqeOffset(ring, place))) {
        remove(at);
        pendingDoorbells.add(sends);
      } else if (sends.completeUnpolled(Cqe.wqeOffset(ring, place))) {
        pendingDoorbells.add(sends);
      }
    }
    seen = at;
  }

  /** Takes a completion out that is none of the program's; those before it close up. */
  private void remove(int at) {
    for (int i = at; i != index; i--) {
      MemorySegment.copy(ring, place(i - 1), ring, place(i), Cqe.SIZE);
    }
    index++;
    taken++;
    VarHandle.storeStoreFence(); // as in taking one
    Cqe.arm(ring, place(index - 1));
  }

  private long place(int at) {
    return (long) (at & mask) * Cqe.SIZE;
  }

  /** How many completions stand in the ring: behind the first empty place there are none. */
  private int unpolled() {
    int count = 0;
    int end = mask + 1;
    while (count < end) {
      int middle = count + end >>> 1;
      if (Cqe.owner(ring, place(index + middle)) == Cqe.SENTINEL) {
        end = middle;
      } else {
        count = middle + 1;
      }
    }
    return count;
  }

  // ---- telling of completions

  @Override
  public Optional<CompletionChannel> channel() {
    return Optional.ofNullable(channel);
  }

  @Override
  public void requestNotify(boolean solicitedOnly) {
    if (channel == null) {
      throw new VerbsException(Errno.EINVAL, "%s has no completion channel".formatted(describe()));
    }
    if (solicitedOnly && !device.events().hasEventQueues()) {
      throw new VerbsException(
          Errno.EOPNOTSUPP,
          "%s has no event queues: nothing reports which receives are solicited"
              .formatted(context.describe()));
    }
    lock.lock();
    try {
      checkAlive();
      if (asked == 0) {
        askedFrom = index + unpolled();
        polledTo = index;
      }
      asked |= solicitedOnly ? SOLICITED : ALL;
      askCard();
    } catch (InternalError e) {
      throw new VerbsException(Errno.EIO, device.faulted(e));
    } finally {
      lock.unlock();
    }
    device.events().requested(this);
  }

  /** Under the lock, so that a queue that is closed is not asked. */
  private void askCard() {
    if (device.events().hasEventQueues()) {
      context.uar().armCompletionQueue(Doorbell.armCompletionQueue(number, asked == SOLICITED));
    }
  }

  /** Whether it is to tell of completions that need not be solicited; a glance without the lock. */
  boolean isAskedForAll() {
    return (asked & ALL) != 0;
  }

  /**
   * Tells of completions if it was asked to and there are any. Silent ones, of unsignalled sends
   * that succeeded, are taken out, and the card is asked again when there was nothing else.
   *
   * @param event whether the card has given an event, so that it has to be asked again in any case
   */
  Look look(boolean event) {
    ReceiveShare found = null;
    lock.lock();
    try {
      if (asked == 0 || isClosed()) {
        return Look.DONE;
      }
      boolean come = hasCome();
      if (come) {
        come = hasPollable() || polledTo - askedFrom > 0;
        found = takeDue();
        ringDue();
        if (!come) {
          askedFrom = index;
        }
      } else if (!event) {
        return Look.NOTHING;
      }
      if (!come) {
        askCard();
        return Look.ASKED_AGAIN;
      }
      asked = 0;
    } finally {
      lock.unlock();
      SoftwareSrq.serveAll(found);
      if (inFlight != null) {
        inFlight.ringWaiting();
      }
    }
    channel.give(this);
    return Look.DONE;
  }

  /** Whether something may have come since it was asked, polled or not. */
  private boolean hasCome() {
    int ahead = askedFrom - index;
    return isFlushReady()
        || ahead < 0
        || ahead <= mask && Cqe.owner(ring, place(askedFrom)) != Cqe.SENTINEL;
  }

  /** Whether a poll would return something, after silent completions at the head were taken out. */
  private boolean hasPollable() {
    int last = Cqe.lastDword(ring, place(index));
    while (last >>> 24 != Cqe.SENTINEL) {
      if (!isSilent(place(index), last)) {
        return true;
      }
      take(place(index), last, null, 0);
      taken++;
      last = Cqe.lastDword(ring, place(index));
    }
    return isFlushReady();
  }

  private boolean isFlushReady() {
    for (HghcaQueuePair qp : flushing) {
      if (qp.flush().isReady(this)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Whether a place holds a completion that polling keeps for itself: of an unsignalled send that
   * succeeded, or of a shared receive that was flushed and is given back, or of what the driver has
   * completed before.
   */
  private boolean isSilent(long at, int last) {
    HghcaQueuePair qp = queuePairs.find(Cqe.qpn(ring, at));
    if (qp == null) {
      return false;
    }
    int wqe = Cqe.wqeOffset(ring, at);
    if (!plain && isLate(qp, at, wqe)) {
      return true;
    }
    boolean send = (last >>> 8 & 0xff) != 0;
    if ((last & 0xff) == WqeOpcode.INVALID) {
      return qp.receiver().keepsFlushed()
          && !send
          && CompletionStatus.of(CompletionDecode.syndrome(Cqe.immediate(ring, at)))
              == WcStatus.WR_FLUSH_ERR
          && !isSendError(qp, wqe);
    }
    return send
        && qp.sends().isOldest(wqe)
        && (!qp.sends().isOldestSignaled() || qp.sends().isOldestInPieces());
  }

  /** Whether a place holds what the driver has completed before, or does not tell of at all. */
  private boolean isLate(HghcaQueuePair qp, long at, int wqe) {
    boolean send = isSend(at);
    boolean fits =
        send
            ? qp.sends().isOldest(wqe)
            : !qp.receives().isFlushed() && qp.receives().outstanding() > 0;
    return !fits && qp.flush().awaits(send, wqe);
  }

  @Override
  public void resize(int wanted) {
    checkEntries(wanted);
    lock.lock();
    try {
      checkAlive();
      int unpolled = unpolled();
      if (wanted < unpolled) {
        throw new VerbsException(
            Errno.EINVAL,
            "%s holds %d completions that were not polled, more than %d"
                .formatted(describe(), unpolled, wanted));
      }
      if (wanted > mask + 1) {
        throw new VerbsException(
            Errno.EINVAL,
            "%s was created with a ring of %d entries".formatted(describe(), mask + 1));
      }
      entries = wanted;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void addTo(ContextCounters counters) {
    counters.add(taken, failures);
  }

  @Override
  void release() {
    // Who polls now ends first; who polls later finds the queue closed.
    lock.lock();
    lock.unlock();
    device.remove(this);
    context.countNoMore(this);
    context.forgetEvents(this);
    if (channel != null) {
      channel.forget(this);
    }
    device
        .deferredFree()
        .retire(
            describe(),
            () -> {
              device.commands().hw2swCq(number);
              // What is told of this queue must not be taken for the next one's of its number.
              device.events().settle();
              checkTrusted();
              end = index + unpolled() & mask;
            },
            memory::close,
            () -> {
              icm.close();
              freeNumber();
            });
  }

  /** Memory that the card may write to is not given back. */
  private void checkTrusted() {
    if (distrusted) {
      device.cqNumbers().retire(number);
      throw new VerbsException(
          Errno.EIO, "the card may still write completions to %s".formatted(describe()));
    }
  }

  /** Where the card goes on under this number, if it does not begin anew, is known on one card. */
  private void freeNumber() {
    HardwareProfile profile = device.limits().profile();
    if (profile.positionsResumable()) {
      device.cqNumbers().free(number, end);
    } else if (!profile.positionsSurviveDestroy() || end == 0 && taken == 0) {
      device.cqNumbers().free(number);
    } else {
      device.cqNumbers().retire(number);
    }
  }
}
