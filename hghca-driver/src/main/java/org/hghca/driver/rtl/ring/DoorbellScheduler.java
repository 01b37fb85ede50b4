package org.hghca.driver.rtl.ring;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.hghca.abi.Doorbell;
import org.hghca.abi.NextUnit;
import org.hghca.abi.WqeOpcode;
import org.hghca.driver.ring.RingShape;
import org.hghca.driver.ring.SendOpcodeTable;
import org.hghca.uar.UarPage;

/**
 * The doorbells of one send ring on a card with limits on doorbells: one for each request, none
 * before {@link DoorbellQuota} allows it, none for a fenced request before earlier READs are
 * complete. A request that may not be rung is held back, and so are all later ones; the next post,
 * poll, event or sweep that is allowed to rings for it.
 *
 * <p>It counts packets: a SEND or WRITE that would have the last PSN goes behind {@link WrapReads},
 * or, without them, ends the ringing.
 *
 * <p>Under the ring's lock, except for {@link #complete} and {@link #completeUnpolled}, which run
 * under that of the completion queue.
 */
final class DoorbellScheduler {
  private static final int UNIT_SHIFT = 4;

  /** Flags of a slot, in addition to those of its payment. */
  private static final int WAITS_FOR_ANSWER = 4;

  private static final int READ = 8;
  private static final int FENCED = 16;

  /** A READ in pieces, and a request behind READs. */
  private static final int LONG = 32;

  private static final int CARRIED = 64;
  private static final int STEPPED = LONG | CARRIED;

  private static final int TICK_SHIFT = 32;

  /** In place of the bytes of a share that was taken while bytes did not count: more than any. */
  private static final long UNCOUNTED = DoorbellQuota.UNCOUNTED;

  /**
   * Below any number of requests in flight, which is below 0 once the driver completes unrung ones.
   */
  private static final int ASK = Integer.MIN_VALUE;

  private static final VarHandle SEEN;

  static {
    try {
      SEEN = MethodHandles.lookup().findVarHandle(DoorbellScheduler.class, "seen", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** The reason why the next request is not rung. */
  private enum Hold {
    NOTHING,
    /** Requests before it. */
    ITS_RING,
    /** Requests of others. */
    OTHERS
  }

  private final DoorbellQuota inFlight;
  private final DoorbellQuota.Waiting owner;
  private final MemorySegment ring;
  private final UarPage uar;
  private final int qpn;
  private final int strideLog;

  /**
   * Per slot, below {@link #TICK_SHIFT}: flags, and the payment. 0 of a request that waits for
   * nothing but a doorbell of the share, and returns nothing. Above: the time of its doorbell.
   * Written before the doorbell, and not again before the slot is free.
   */
  private final long[] marks;

  /** Per slot of a request with a mark, or held back: bytes of the message, unsigned. */
  private final int[] bytes;

  /** Per slot of a request held back: its doorbell, so that ringing reads no element. */
  private final long[] doorbells;

  /** Number of requests that the ring may have in flight without paying, and bytes of each. */
  private int share;

  private long shareBytes;

  /** Number of requests paid for one by one and rung so far, and of those that completed. */
  private int paidRung;

  private int paidSeen;

  /**
   * How many requests may be in flight without a further look at the limits, if they have no marks;
   * {@link #ASK} while that look is needed.
   */
  private int unasked = ASK;

  /**
   * The position of the first request without an observed completion; guarded by the completion
   * queue's lock.
   */
  private int seen;

  /** The position of the first request that was not rung, and that after the last. */
  private int from;

  private int end;

  /** Number of doorbells rung so far. */
  private long rung;

  private final PsnCount psn = new PsnCount();

  /** Null where a SEND or WRITE must not reach the last PSN. */
  private WrapReads wrapReads;

  /** Runs when the next request would have the last PSN, and nothing carries it. */
  private Runnable onLastPsn = () -> {};

  private volatile boolean atLastPsn;

  /** Completed steps of requests, without the last ones. */
  private int steps;

  private final SteppedRequest stepped;

  /** The payment for the driver's own element. */
  private int ownPayment;

  /** Whether the ring is in the list of rings that wait for others. */
  private boolean waits;

  /**
   * Whether requests are held back that {@link #ringHeldBack} was to ring for. Written under the
   * ring's lock. A full fence follows each time that it becomes true, before the last look at what
   * has completed; who completes a request reads it behind a full fence, and rings.
   */
  private boolean holds;

  /** Written under the ring's lock. */
  private volatile boolean stopped;

  DoorbellScheduler(
      DoorbellQuota inFlight, DoorbellQuota.Waiting owner, RingShape shape, UarPage uar) {
    this.inFlight = inFlight;
    this.owner = owner;
    this.ring = shape.memory().memory();
    this.uar = uar;
    this.qpn = shape.qpn();
    this.strideLog = shape.strideLog();
    this.marks = new long[shape.slots()];
    this.bytes = new int[shape.slots()];
    this.doorbells = new long[shape.slots()];
    this.stepped = new SteppedRequest(ring, 1 << strideLog, inFlight.pieceOfRead());
  }

  /** Sets an action for the end at the last PSN. Must be called before the first post. */
  void onLastPsn(Runnable action) {
    onLastPsn = action;
  }

  private int mostUnasked() {
    return stopped || stepped.isOpen(seen()) ? ASK : Math.min(inFlight.window(), share);
  }

  // ---- the PSN

  /** Sends start, with a PSN; the last one is critical for SENDs and WRITEs. */
  void startAt(int first) {
    psn.startAt(first);
  }

  /** Sets what takes the PSN over the wrap; null if nothing does. */
  void wrapBy(WrapReads reads) {
    wrapReads = reads;
  }

  /** Whether nothing carries the PSN over the wrap. */
  boolean endsAtLastPsn() {
    return wrapReads == null && psn.isStarted();
  }

  /** Number of packets before the last PSN. */
  long psnsLeft() {
    return psn.left();
  }

  /** Whether the next request would have the last PSN, so that ringing has stopped. */
  boolean isAtLastPsn() {
    return atLastPsn;
  }

  private boolean reachesLastPsn(int slot) {
    return !isRead(slot) && psn.reachesLast(length(slot));
  }

  /** Sets the packet size of requests from now on. */
  void path(int packetLog) {
    psn.path(packetLog);
  }

  // ---- posting

  /** Whether the request at a position, which is to be written next, need not be held back. */
  boolean mayRingAtOnce(int at, int operation) {
    return from == at
        && SendOpcodeTable.isOneWay(operation)
        && underWay() < unasked
        && inFlight.isCalm();
  }

  /**
   * Rings for the last written request, for which {@link #mayRingAtOnce} is true, unless it would
   * have the last PSN, or is longer than those of the share.
   *
   * @param size in units
   */
  void ringAtOnce(int at, int size, int operation, long length) {
    if (length > shareBytes || psn.reachesLast(length)) {
      add(at, size, operation, length);
      return;
    }
    int slot = slot(at);
    from = at + 1;
    end = at + 1;
    boolean _ =
        ringDoorbell(
            slot, 0, length, doorbell(slot << strideLog, size, SendOpcodeTable.opcode(operation)));
  }

  /**
   * Holds back the last written request, until {@link #ringHeldBack}.
   *
   * @param size in units
   */
  void add(int at, int size, int operation, long length) {
    int slot = slot(at);
    int opcode = SendOpcodeTable.opcode(operation);
    int mark = SendOpcodeTable.isAnswered(operation) ? WAITS_FOR_ANSWER : 0;
    if (opcode == WqeOpcode.RDMA_READ) {
      mark |= stepped.isTooLong(length) ? READ | LONG : READ;
    }
    marks[slot] = mark | (SendOpcodeTable.isFenced(operation) ? FENCED : 0);
    bytes[slot] = (int) length;
    doorbells[slot] = doorbell(slot << strideLog, size, opcode);
    end = at + 1;
  }

  /** Rings for held-back requests, as far as the limits allow. */
  void ringHeldBack() {
    if (from != end && underWay() < unasked && inFlight.isCalm()) { // the usual case at once
      int slot = slot(from);
      if (mark(slot) == 0 && length(slot) <= shareBytes && !reachesLastPsn(slot)) {
        from++;
        boolean _ = ringDoorbell(slot, 0, length(slot), doorbells[slot]);
      }
    }
    if (from != end || holds) {
      ringRest();
    }
  }

  private void ringRest() {
    Hold hold = ringWhatMayGo(false);
    if (hold != Hold.NOTHING && !holds) {
      holds = true;
      VarHandle.fullFence(); // a thread that completes one from here on sees that we hold back
      hold = ringWhatMayGo(false);
    }
    if (hold == Hold.OTHERS && !waits) {
      waits = true;
      inFlight.await(owner);
      VarHandle.fullFence(); // a thread that returns budget from here on finds us in the list
      if (inFlight.isFirst(owner)) {
        hold = takeTurn();
      }
    }
    holds = hold != Hold.NOTHING;
    unasked = mostUnasked();
    if (holds) {
      inFlight.holds();
    }
  }

  /**
   * As {@link #ringHeldBack}, for one request, when a ring in the waiting list has its turn.
   *
   * @return whether it has had its turn
   */
  boolean ringInTurn() {
    if (!waits) {
      return true;
    }
    long before = rung;
    Hold hold = takeTurn();
    if (hold == Hold.OTHERS && rung == before) {
      return false;
    }
    if (hold != Hold.NOTHING) {
      holds = true;
      VarHandle.fullFence();
      hold = ringWhatMayGo(false);
    }
    holds = hold != Hold.NOTHING;
    unasked = mostUnasked();
    return true;
  }

  /** Rings for one request of a ring in the list, which leaves the list if it needs no more. */
  private Hold takeTurn() {
    long before = rung;
    Hold hold = ringWhatMayGo(true);
    if (hold != Hold.OTHERS || rung != before) {
      waits = hold == Hold.OTHERS;
      inFlight.endTurn(owner, waits);
    }
    return hold;
  }

  private Hold ringWhatMayGo(boolean first) {
    boolean turn = first;
    while (!stopped) {
      if (stepped.isOpen(seen())) {
        if (!stepped.waits()) {
          return from == end && !stepped.needsDoorbells() ? Hold.NOTHING : Hold.ITS_RING;
        }
        if (!ringStep(turn)) {
          return Hold.OTHERS;
        }
      } else if (from == end) {
        return Hold.NOTHING;
      } else if (wrapReads == null && reachesLastPsn(slot(from))) {
        stopAtLastPsn();
        return Hold.NOTHING;
      } else if (!mayBeNext(slot(from))) {
        return Hold.ITS_RING;
      } else if (!ringNext(turn)) {
        return Hold.OTHERS;
      }
      turn = false;
    }
    return Hold.NOTHING;
  }

  private void stopAtLastPsn() {
    atLastPsn = true;
    stop();
    onLastPsn.run();
  }

  /** Whether the next request does not wait for others of its ring. */
  private boolean mayBeNext(int slot) {
    int underWay = underWay();
    int mark = mark(slot);
    return underWay < inFlight.window()
        && (underWay == 0 || (mark & LONG) == 0 && !reachesLastPsn(slot))
        && ((mark & FENCED) == 0 || !waitsForAnswer());
  }

  private boolean waitsForAnswer() {
    for (int at = seen(); at - from < 0; at++) {
      if ((mark(slot(at)) & WAITS_FOR_ANSWER) != 0) {
        return true;
      }
    }
    return false;
  }

  private boolean ringNext(boolean turn) {
    int slot = slot(from);
    if (reachesLastPsn(slot)) {
      return ringCarried(slot, turn);
    }
    boolean isLong = (mark(slot) & LONG) != 0;
    long length = isLong ? inFlight.pieceOfRead() : length(slot);
    if (!pay(slot, isRead(slot), length, underWay(), turn)) {
      return false;
    }
    if (isLong) {
      stepped.begin(from, (long) slot << strideLog, length(slot));
    }
    from++;
    boolean _ =
        ringDoorbell(slot, mark(slot), length, isLong ? stepDoorbell(slot) : doorbells[slot]);
    return true;
  }

  /** Rings for the first READ before a request that would have the last PSN. */
  private boolean ringCarried(int slot, boolean turn) {
    WrapReads reads = wrapReads;
    long left = psn.left() + 1;
    if (!pay(slot, true, reads.bytes(left, psn.packetLog()), 0, turn)) {
      return false;
    }
    marks[slot] |= CARRIED;
    stepped.begin(from, (long) slot << strideLog, length(slot), reads, left, psn.packetLog());
    from++;
    ringStepped(slot);
    return true;
  }

  private boolean ringStep(boolean turn) {
    int slot = slot(stepped.at());
    if (!pay(slot, stepped.isNextRead(), stepped.nextBytes(), 0, turn)) {
      return false;
    }
    stepped.writeNext();
    ringStepped(slot);
    return true;
  }

  private void ringStepped(int slot) {
    boolean wraps = ringDoorbell(slot, mark(slot), stepped.bytesUnderWay(), stepDoorbell(slot));
    if ((mark(slot) & CARRIED) != 0 && stepped.isReadUnderWay()) {
      inFlight.countCarryingRead();
      if (wraps) {
        inFlight.countCarriedWrap();
      }
    }
  }

  /**
   * Pays for a doorbell, if the share does not.
   *
   * @param others number of doorbells of this ring in flight
   */
  private boolean pay(int slot, boolean read, long length, int others, boolean turn) {
    int ofShare = ofShare(others);
    boolean keeps = inFlight.keepsShares(read);
    boolean fits = keeps && length <= shareBytes;
    if (fits && ofShare < share) {
      return true;
    }
    if (ofShare < share) {
      returnShare(share - ofShare);
    }
    boolean joins = share == 0 ? keeps : fits && share < inFlight.mostShare();
    boolean asMany = joins && share != 0 && shareBytes != UNCOUNTED;
    int payment = inFlight.pay(read, asMany ? shareBytes : length, turn);
    if (payment == DoorbellQuota.REFUSED) {
      return false;
    }
    if (joins && joinsShare(payment == DoorbellQuota.WITH_BYTES, length)) {
      return true;
    }
    marks[slot] |= payment;
    paidRung++;
    return true;
  }

  /** Adds a request to the share, all of whose requests have as many bytes, if it is alike. */
  private boolean joinsShare(boolean counts, long length) {
    if (share == 0) {
      shareBytes = counts ? InFlightCount.wholeBeats(length) : UNCOUNTED;
      inFlight.shares(owner);
    } else if (counts == (shareBytes == UNCOUNTED)) {
      return false; // bytes have begun to count
    }
    share++;
    return true;
  }

  /** How many of some doorbells in flight are of the share; below 0 of some were never rung. */
  private int ofShare(int underWay) {
    // Read after the number of completed requests, before which it is written.
    return Math.max(underWay, 0) - (paidRung - paidSeen);
  }

  /** Returns the part of the share that is not in flight. */
  void returnShare() {
    int unused = share - ofShare(underWay());
    if (unused > 0) {
      returnShare(unused);
    }
  }

  private void returnShare(int unused) {
    share -= unused;
    unasked = mostUnasked();
    inFlight.giveShare(unused, shareBytes);
    if (share == 0) {
      inFlight.sharesNoMore(owner);
    }
  }

  /**
   * Returns the payment for the outstanding request of a slot. Under the completion queue's lock.
   */
  private void giveBack(int slot) {
    int mark = mark(slot);
    if ((mark & (DoorbellQuota.ONE | DoorbellQuota.WITH_BYTES)) == 0) {
      return;
    }
    paidSeen++;
    if ((mark & STEPPED) != 0) {
      inFlight.giveBack(mark, stepped.isReadUnderWay(), stepped.bytesUnderWay());
    } else {
      inFlight.giveBack(mark, isRead(slot), length(slot));
    }
  }

  private boolean isRead(int slot) {
    return (mark(slot) & READ) != 0;
  }

  /** Rings a doorbell; returns whether its packets take the PSN over the wrap. */
  private boolean ringDoorbell(int slot, int mark, long length, long doorbell) {
    marks[slot] = (long) inFlight.tick() << TICK_SHIFT | mark;
    boolean wraps = psn.add(length);
    rung++;
    uar.ringSendQueue(doorbell);
    return wraps;
  }

  private long doorbell(int offset, int size, int opcode) {
    return Doorbell.sendQueue(qpn, size, offset >>> UNIT_SHIFT, 0, opcode);
  }

  /** The doorbell of a step, whose size may differ from that of the request. */
  private long stepDoorbell(int slot) {
    int offset = slot << strideLog;
    return doorbell(offset, NextUnit.size16(ring, offset), NextUnit.opcode(ring, offset));
  }

  /**
   * Rings for an element that is no request.
   *
   * @param size in units
   * @return false when no doorbell may be rung now
   */
  boolean ringOwn(int offset, int size) {
    ownPayment = inFlight.payOwn();
    if (ownPayment == DoorbellQuota.REFUSED) {
      return false;
    }
    uar.ringSendQueue(doorbell(offset, size, NextUnit.opcode(ring, offset)));
    return true;
  }

  /** That element is complete. */
  void completeOwn() {
    inFlight.giveBack(ownPayment, false, 0);
  }

  // ---- what was rung

  /** Number of doorbells rung so far. */
  long rung() {
    return rung;
  }

  /** Number of packets of all requests that were rung since the ring was created or reset. */
  long packets() {
    return psn.packets();
  }

  /** The position of the first request that was not rung. */
  int from() {
    return from;
  }

  /** Whether requests are held back; a glance without the lock. */
  boolean holds() {
    return holds;
  }

  /** Number of completed steps of requests, without the last ones. */
  int steps() {
    return steps;
  }

  /** Number of rung requests after a position. */
  int rungBehind(int tail) {
    return from - tail - (stepped.waits() ? 1 : 0);
  }

  /** Whether the card has not received the request at a position, and never will. */
  boolean isNeverRung(int at) {
    return stopped && (at - from >= 0 || stepped.waits() && stepped.at() == at);
  }

  /** The original request that is at a position in steps; null for none. */
  MemorySegment whole(int at) {
    return stepped.at() == at ? stepped.whole() : null;
  }

  /** The time when the request at a position was rung. */
  int tick(int at) {
    return (int) (marks[slot(at)] >> TICK_SHIFT);
  }

  private int seen() {
    return (int) SEEN.getAcquire(this);
  }

  private int underWay() {
    return from - seen();
  }

  /** Never rings again before {@link #reset}, also not for held-back requests. */
  void stop() {
    stopped = true;
    unasked = ASK;
    holds = false;
  }

  /** Whether it has stopped ringing. */
  boolean isStopped() {
    return stopped;
  }

  // ---- completions, under the completion queue's lock

  /**
   * Completes the request at a position, the oldest, if it has no mark.
   *
   * @return whether it has none
   */
  boolean completeUnmarked(int at) {
    if (at != seen || mark(slot(at)) != 0) {
      return false;
    }
    SEEN.setRelease(this, at + 1);
    return true;
  }

  /**
   * The request at a position, the oldest, is complete.
   *
   * @param said number of bytes in its completion
   * @return number of bytes that it has transferred
   */
  int complete(int at, int said) {
    int slot = slot(at);
    if (at - seen >= 0) {
      seeUpTo(at + 1);
    }
    return (mark(slot) & LONG) != 0 ? bytes[slot] : said;
  }

  /**
   * The request at a position is complete but not polled yet.
   *
   * @return whether that is new
   */
  boolean completeUnpolled(int at) {
    boolean isNew = at - seen >= 0 && at - from < 0;
    if (isNew) {
      seeUpTo(at + 1);
    }
    return isNew;
  }

  /** Whether the completion at a position belongs to a step of an unfinished request. */
  boolean isStep(int at) {
    return (mark(slot(at)) & STEPPED) != 0 && stepped.hasMore(at);
  }

  /** Continues a request whose step is complete. Under both locks. */
  void completeStep(int at) {
    int slot = slot(at);
    giveBack(slot);
    marks[slot] = DoorbellQuota.withoutPayment(mark(slot));
    steps++;
    stepped.completeStep();
  }

  private void seeUpTo(int to) {
    for (int at = seen; at != to; at++) {
      giveBack(slot(at));
    }
    SEEN.setRelease(this, to);
  }

  /** Clears all state and returns all doorbells. Under both locks. */
  void reset() {
    if (seen - from < 0) {
      seeUpTo(from);
    }
    if (share != 0) {
      returnShare(share);
    }
    unasked = ASK;
    holds = false;
    SEEN.setRelease(this, 0);
    stepped.close();
    psn.reset();
    wrapReads = null;
    atLastPsn = false;
    from = 0;
    end = 0;
    stopped = false;
  }

  private int slot(int at) {
    return at & marks.length - 1;
  }

  private int mark(int slot) {
    return (int) marks[slot];
  }

  private long length(int slot) {
    return Integer.toUnsignedLong(bytes[slot]);
  }
}
