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

  private final DoorbellShare share;

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

  /** Completed steps of requests, without the last ones. */
  private int steps;

  private final SteppedRequest stepped;

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
    this.share = new DoorbellShare(inFlight, owner);
    this.ring = shape.memory().memory();
    this.uar = uar;
    this.qpn = shape.qpn();
    this.strideLog = shape.strideLog();
    this.marks = new long[shape.slots()];
    this.bytes = new int[shape.slots()];
    this.doorbells = new long[shape.slots()];
    this.stepped = new SteppedRequest(ring, 1 << strideLog, inFlight.pieceOfRead());
  }

  private int mostUnasked() {
    return stopped || stepped.isOpen(seen()) ? ASK : Math.min(inFlight.window(), share.size());
  }

  /** The packets of its requests. */
  PsnCount psn() {
    return psn;
  }

  private boolean reachesLastPsn(int slot) {
    return !isRead(slot) && psn.reachesLast(length(slot));
  }

  // ---- posting

  /** Whether the request at a position, which is to be written next, need not be held back. */
  boolean mayRingAtOnce(int at, int operation) {
    return from == at
        && !SendChecks.isAnswered(operation)
        && !SendOpcodeTable.isFenced(operation)
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
    if (length > share.bytes() || psn.reachesLast(length)) {
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
    int mark = SendChecks.isAnswered(operation) ? WAITS_FOR_ANSWER : 0;
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
      if (mark(slot) == 0 && length(slot) <= share.bytes() && !reachesLastPsn(slot)) {
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
      } else if (!psn.isCarried() && reachesLastPsn(slot(from))) {
        psn.stop();
        stop();
        psn.report();
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
    WrapReads reads = psn.wrapReads();
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
    int payment = share.pay(read, length, others, turn);
    unasked = mostUnasked();
    if (payment == DoorbellQuota.REFUSED) {
      return false;
    }
    if (payment != DoorbellShare.OF_SHARE) {
      marks[slot] |= payment;
    }
    return true;
  }

  /** Returns the part of the share that is not in flight. */
  void returnShare() {
    if (share.returnUnused(underWay())) {
      unasked = mostUnasked();
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
    share.completedPaid();
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

  /** Rings for an element of a size in units that is no request. */
  void ringElement(int offset, int size) {
    uar.ringSendQueue(doorbell(offset, size, NextUnit.opcode(ring, offset)));
  }

  // ---- what was rung

  /** Number of doorbells rung so far. */
  long rung() {
    return rung;
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
    share.returnAll();
    unasked = ASK;
    holds = false;
    SEEN.setRelease(this, 0);
    stepped.close();
    psn.reset();
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
