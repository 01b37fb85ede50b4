package org.hghca.driver.ring;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.hghca.abi.Doorbell;
import org.hghca.abi.NextUnit;
import org.hghca.abi.WqeOpcode;
import org.hghca.uar.UarPage;

/**
 * The doorbells of one send ring on a card with limits on doorbells: one for each request, none
 * before {@link InFlightLimits} allows it, none for a fenced request before earlier READs are
 * complete. A request that may not be rung is held back, and so are all later ones; the next post,
 * poll, event or sweep that is allowed to rings for it.
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
  private static final int LONG = 32;

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

  private final InFlightLimits inFlight;
  private final InFlightLimits.Waiting owner;
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

  /** The ring's own share of doorbells. */
  private int share;

  /** Number of doorbells of the reserve rung so far, and number of those that completed. */
  private int reserveRung;

  private int reserveSeen;

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

  /** Number of doorbells rung so far, and number of packets of those since the reset. */
  private long rung;

  private long packets;

  private int packetLog = 8;

  /** Completed pieces of long READs, without the last ones. */
  private int pieces;

  private final LongRead longRead;

  /** Whether the ring is in the list of rings that wait for others. */
  private boolean waits;

  /**
   * Whether requests are held back that {@link #ring} was to ring for. Written under the ring's
   * lock. A full fence follows each time that it becomes true, before the last look at what has
   * completed; who completes a request reads it behind a full fence, and rings.
   */
  private boolean holds;

  /** Written under the ring's lock. */
  private volatile boolean stopped;

  DoorbellScheduler(
      InFlightLimits inFlight, InFlightLimits.Waiting owner, RingShape shape, UarPage uar) {
    this.inFlight = inFlight;
    this.owner = owner;
    this.ring = shape.memory().memory();
    this.uar = uar;
    this.qpn = shape.qpn();
    this.strideLog = shape.strideLog();
    this.marks = new long[shape.slots()];
    this.bytes = new int[shape.slots()];
    this.doorbells = new long[shape.slots()];
    this.longRead = new LongRead(ring, 1 << strideLog, inFlight.mostOfRead());
  }

  /** The ring takes requests: it gets a share. */
  void open() {
    if (share == 0) {
      share = inFlight.takeShare();
      unasked = mostUnasked();
    }
  }

  private int mostUnasked() {
    return stopped || longRead.isOpen(seen()) ? ASK : Math.min(inFlight.window(), share);
  }

  /** Sets the packet size of requests from now on. */
  void path(int packetLog) {
    this.packetLog = packetLog;
  }

  // ---- posting

  /** Whether the request at a position, which is to be written next, need not be held back. */
  boolean mayRingAtOnce(int at, int operation) {
    return from == at && SendOpcodeTable.isOneWay(operation) && underWay() < unasked;
  }

  /**
   * Rings for the last written request, for which {@link #mayRingAtOnce} is true.
   *
   * @param size in units
   */
  void ringAtOnce(int at, int size, int operation, long length) {
    int slot = slot(at);
    from = at + 1;
    end = at + 1;
    ring(slot, 0, length, doorbell(slot << strideLog, size, SendOpcodeTable.opcode(operation)));
  }

  /**
   * Holds back the last written request, until {@link #ring}.
   *
   * @param size in units
   */
  void add(int at, int size, int operation, long length) {
    int slot = slot(at);
    int opcode = SendOpcodeTable.opcode(operation);
    int mark = SendOpcodeTable.isAnswered(operation) ? WAITS_FOR_ANSWER : 0;
    if (opcode == WqeOpcode.RDMA_READ) {
      mark |= longRead.isToo(length) ? READ | LONG : READ;
    }
    marks[slot] = mark | (SendOpcodeTable.isFenced(operation) ? FENCED : 0);
    bytes[slot] = (int) length;
    doorbells[slot] = doorbell(slot << strideLog, size, opcode);
    end = at + 1;
  }

  /** Rings for held-back requests, as far as the limits allow. */
  void ring() {
    if (from != end && underWay() < unasked) { // the usual case at once
      int slot = slot(from);
      if (mark(slot) == 0) {
        from++;
        ring(slot, 0, length(slot), doorbells[slot]);
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
      hold = ringWhatMayGo(inFlight.isFirst(owner));
    }
    holds = hold != Hold.NOTHING;
    unasked = mostUnasked();
    if (holds) {
      inFlight.holds();
    }
  }

  /** As {@link #ring}, when a ring in the waiting list has its turn. */
  void ringInTurn() {
    if (!waits) {
      return;
    }
    Hold hold = ringWhatMayGo(true);
    waits = hold == Hold.OTHERS;
    inFlight.endTurn(owner, waits);
    if (hold != Hold.NOTHING) {
      holds = true;
      VarHandle.fullFence();
      hold = ringWhatMayGo(waits && inFlight.isFirst(owner));
    }
    holds = hold != Hold.NOTHING;
    unasked = mostUnasked();
  }

  private Hold ringWhatMayGo(boolean turn) {
    while (!stopped) {
      if (longRead.isOpen(seen())) {
        if (!longRead.waits()) {
          return from == end && !longRead.goesOn() ? Hold.NOTHING : Hold.ITS_RING;
        }
        if (!ringPiece(turn)) {
          return Hold.OTHERS;
        }
      } else if (from == end) {
        return Hold.NOTHING;
      } else if (!mayBeNext(slot(from))) {
        return Hold.ITS_RING;
      } else if (!ringNext(turn)) {
        return Hold.OTHERS;
      }
    }
    return Hold.NOTHING;
  }

  /** Whether the next request does not wait for others of its ring. */
  private boolean mayBeNext(int slot) {
    int underWay = underWay();
    int mark = mark(slot);
    return underWay < inFlight.window()
        && ((mark & LONG) == 0 || underWay == 0)
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
    boolean isLong = (mark(slot) & LONG) != 0;
    int read = isLong ? inFlight.mostOfRead() : isRead(slot) ? bytes[slot] : 0;
    if (!pay(slot, read, underWay(), turn)) {
      return false;
    }
    if (isLong) {
      longRead.begin(from, (long) slot << strideLog, length(slot));
    }
    from++;
    long length = isLong ? read : length(slot);
    ring(slot, mark(slot), length, isLong ? pieceDoorbell(slot) : doorbells[slot]);
    return true;
  }

  private boolean ringPiece(boolean turn) {
    int slot = slot(longRead.at());
    int piece = longRead.next();
    if (!pay(slot, piece, 0, turn)) {
      return false;
    }
    longRead.writeNext();
    ring(slot, mark(slot), piece, pieceDoorbell(slot));
    return true;
  }

  /**
   * Pays for a doorbell.
   *
   * @param others number of doorbells of this ring in flight
   */
  private boolean pay(int slot, int read, int others, boolean turn) {
    // Read after the number of completed requests, before which it is written.
    int ofShare = others - (reserveRung - reserveSeen);
    int payment = inFlight.pay(read, ofShare < share, turn);
    if (payment == InFlightLimits.REFUSED) {
      return false;
    }
    marks[slot] |= payment;
    reserveRung += InFlightLimits.isOfReserve(payment) ? 1 : 0;
    return true;
  }

  /**
   * Returns the payment for the outstanding request of a slot. Under the completion queue's lock.
   */
  private void giveBack(int slot) {
    int mark = mark(slot);
    boolean isLong = (mark & LONG) != 0;
    inFlight.giveBack(mark, isLong ? longRead.underWay() : isRead(slot) ? bytes[slot] : 0);
    reserveSeen += InFlightLimits.isOfReserve(mark) ? 1 : 0;
  }

  private boolean isRead(int slot) {
    return (mark(slot) & READ) != 0;
  }

  private void ring(int slot, int mark, long length, long doorbell) {
    marks[slot] = (long) inFlight.tick() << TICK_SHIFT | mark;
    packets += (length - 1 >>> packetLog) + 1; // no message is empty
    rung++;
    uar.ringSendQueue(doorbell);
  }

  private long doorbell(int offset, int size, int opcode) {
    return Doorbell.sendQueue(qpn, size, offset >>> UNIT_SHIFT, 0, opcode);
  }

  /** The doorbell of a READ's piece, whose size differs from that of the request. */
  private long pieceDoorbell(int slot) {
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
    if (!inFlight.payOwn()) {
      return false;
    }
    uar.ringSendQueue(doorbell(offset, size, NextUnit.opcode(ring, offset)));
    return true;
  }

  /** That element is complete. */
  void completeOwn() {
    inFlight.giveBackOwn();
  }

  // ---- what was rung

  /** Number of doorbells rung so far. */
  long rung() {
    return rung;
  }

  /** Number of packets of all requests that were rung since the ring was created or reset. */
  long packets() {
    return packets;
  }

  /** The position of the first request that was not rung. */
  int from() {
    return from;
  }

  /** Whether requests are held back; a glance without the lock. */
  boolean holds() {
    return holds;
  }

  /** Number of completed pieces of READs, without the last ones. */
  int pieces() {
    return pieces;
  }

  /** Number of rung requests after a position. */
  int rungBehind(int tail) {
    return from - tail - (longRead.waits() ? 1 : 0);
  }

  /** Whether the card has not received the request at a position, and never will. */
  boolean isNeverRung(int at) {
    return stopped && (at - from >= 0 || longRead.waits() && longRead.at() == at);
  }

  /** The original READ that is at a position in pieces; null for none. */
  MemorySegment whole(int at) {
    return longRead.at() == at ? longRead.whole() : null;
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

  /** Whether the completion at a position belongs to a piece of an unfinished READ. */
  boolean isPiece(int at) {
    return (mark(slot(at)) & LONG) != 0 && longRead.hasMore(at);
  }

  /** Continues a READ whose piece is complete. Under both locks. */
  void completePiece(int at) {
    int slot = slot(at);
    giveBack(slot);
    marks[slot] = InFlightLimits.withoutPayment(mark(slot));
    pieces++;
    longRead.goOn();
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
    inFlight.giveShare(share);
    share = 0;
    unasked = ASK;
    holds = false;
    SEEN.setRelease(this, 0);
    longRead.close();
    from = 0;
    end = 0;
    packets = 0;
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
