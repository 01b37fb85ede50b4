package org.hghca.driver;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.hghca.abi.Doorbell;
import org.hghca.abi.NextUnit;
import org.hghca.abi.WqeOpcode;
import org.hghca.uar.UarPage;

/**
 * The doorbells of one send ring on a card that must be rung with care: one for each request, none
 * before {@link InFlightLimits} lets it, none for a fenced request before the READs ahead of it are
 * complete. What may not be rung is held back, and all behind it; the next post, poll, event or
 * sweep that finds it may go rings for it.
 *
 * <p>Under the ring's lock, except for {@link #complete} and {@link #completeUnpolled}, which are
 * under that of the completion queue.
 */
final class DoorbellScheduler {
  private static final int UNIT_SHIFT = 4;

  /** Marks of a slot, beside those of its payment. */
  private static final int WAITS_FOR_ANSWER = 4;

  private static final int READ = 8;
  private static final int FENCED = 16;
  private static final int LONG = 32;

  private static final VarHandle SEEN;

  static {
    try {
      SEEN = MethodHandles.lookup().findVarHandle(DoorbellScheduler.class, "seen", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** What keeps the next request from being rung for. */
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

  /** By slot. Written before the doorbell, and not again before the slot is free. */
  private final byte[] marks;

  /** By slot: bytes of the message, unsigned, and when it was rung for. */
  private final int[] bytes;

  private final int[] ticks;

  /** How many doorbells are the ring's own. */
  private int share;

  /** How many of them were rung so far, and how many of those seen to complete. */
  private int shareRung;

  private int shareSeen;

  /** The position of the first request whose completion nobody has seen; the completion queue's. */
  private int seen;

  /** The position of the first request that was not rung for, and that behind the last. */
  private int from;

  private int end;

  /** How many doorbells were rung so far, and how many packets those since the reset make. */
  private long rung;

  private long packets;

  private int packetLog = 8;

  /** Pieces of long READs that are complete and were not the last. */
  private int pieces;

  private final LongRead longRead;

  /** Whether the ring is in the list of those that wait for others; so if it does. */
  private boolean waits;

  /** Written under the ring's lock. */
  private volatile boolean stopped;

  DoorbellScheduler(
      InFlightLimits inFlight, InFlightLimits.Waiting owner, RingShape shape, UarPage uar) {
    this.inFlight = inFlight;
    this.owner = owner;
    this.ring = shape.memory();
    this.uar = uar;
    this.qpn = shape.qpn();
    this.strideLog = shape.strideLog();
    this.marks = new byte[shape.slots()];
    this.bytes = new int[shape.slots()];
    this.ticks = new int[shape.slots()];
    this.longRead = new LongRead(ring, 1 << strideLog, inFlight.mostOfRead());
  }

  /** The ring takes requests: it gets a share. */
  void open() {
    if (share == 0) {
      share = inFlight.takeShare();
    }
  }

  /** Requests go in packets of so many bytes from now on. */
  void path(int packetLog) {
    this.packetLog = packetLog;
  }

  // ---- posting

  /** Holds the request that was written last back, until {@link #ring}. */
  void add(int at, int opcode, long length, boolean fenced) {
    int slot = slot(at);
    int mark = waitsForAnswer(opcode) ? WAITS_FOR_ANSWER : 0;
    if (opcode == WqeOpcode.RDMA_READ) {
      mark |= longRead.isToo(length) ? READ | LONG : READ;
    }
    bytes[slot] = (int) length;
    marks[slot] = (byte) (mark | (fenced ? FENCED : 0));
    end = at + 1;
  }

  private static boolean waitsForAnswer(int opcode) {
    return opcode == WqeOpcode.RDMA_READ
        || opcode == WqeOpcode.ATOMIC_CS
        || opcode == WqeOpcode.ATOMIC_FA;
  }

  /** Rings for what is held back, as far as it may go now. */
  void ring() {
    Hold hold = ringWhatMayGo(false);
    if (hold == Hold.ITS_RING) {
      VarHandle.fullFence(); // who completes one from here on finds that we hold
      hold = ringWhatMayGo(false);
    }
    if (hold == Hold.OTHERS && !waits) {
      waits = true;
      inFlight.await(owner);
      VarHandle.fullFence(); // who gives back from here on finds us in the list
      hold = ringWhatMayGo(inFlight.isFirst(owner));
    }
    if (hold != Hold.NOTHING) {
      inFlight.holds();
    }
  }

  /** As {@link #ring}, when it is the turn of a ring in the list of those that wait. */
  void ringInTurn() {
    if (!waits) {
      return;
    }
    Hold hold = ringWhatMayGo(true);
    waits = hold == Hold.OTHERS;
    inFlight.endTurn(owner, waits);
    if (hold != Hold.NOTHING) {
      VarHandle.fullFence();
      ringWhatMayGo(waits && inFlight.isFirst(owner));
    }
  }

  private Hold ringWhatMayGo(boolean turn) {
    while (!stopped) {
      if (longRead.isOpen((int) SEEN.getAcquire(this))) {
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
    int mark = marks[slot];
    return underWay < inFlight.window()
        && ((mark & LONG) == 0 || underWay == 0)
        && ((mark & FENCED) == 0 || !waitsForAnswer());
  }

  private boolean waitsForAnswer() {
    for (int at = (int) SEEN.getAcquire(this); at - from < 0; at++) {
      if ((marks[slot(at)] & WAITS_FOR_ANSWER) != 0) {
        return true;
      }
    }
    return false;
  }

  private boolean ringNext(boolean turn) {
    int slot = slot(from);
    boolean isLong = (marks[slot] & LONG) != 0;
    int read = isLong ? inFlight.mostOfRead() : isRead(slot) ? bytes[slot] : 0;
    if (!pay(slot, read, turn)) {
      return false;
    }
    if (isLong) {
      longRead.begin(from, (long) slot << strideLog, length(slot));
    }
    from++;
    ring(slot, isLong ? read : length(slot));
    return true;
  }

  private boolean ringPiece(boolean turn) {
    int slot = slot(longRead.at());
    int piece = longRead.next();
    if (!pay(slot, piece, turn)) {
      return false;
    }
    longRead.writeNext();
    ring(slot, piece);
    return true;
  }

  private boolean pay(int slot, int read, boolean turn) {
    int payment = inFlight.pay(read, shareRung - shareSeen < share, turn);
    marks[slot] |= (byte) payment;
    shareRung += InFlightLimits.isOfShare(payment) ? 1 : 0;
    return payment != InFlightLimits.NONE;
  }

  /**
   * Gives back what was paid for the outstanding request of a slot. Under the completion queue's
   * lock.
   */
  private void giveBack(int slot) {
    int mark = marks[slot];
    boolean isLong = (mark & LONG) != 0;
    inFlight.giveBack(mark, isLong ? longRead.underWay() : isRead(slot) ? bytes[slot] : 0);
    shareSeen += InFlightLimits.isOfShare(mark) ? 1 : 0;
  }

  private boolean isRead(int slot) {
    return (marks[slot] & READ) != 0;
  }

  private void ring(int slot, long length) {
    long offset = (long) slot << strideLog;
    ticks[slot] = inFlight.tick();
    packets += Math.max(1, length + (1L << packetLog) - 1 >>> packetLog);
    rung++;
    uar.ringSendQueue(
        Doorbell.sendQueue(
            qpn,
            NextUnit.size16(ring, offset),
            (int) (offset >>> UNIT_SHIFT),
            0,
            NextUnit.opcode(ring, offset)));
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
    uar.ringSendQueue(
        Doorbell.sendQueue(qpn, size, offset >>> UNIT_SHIFT, 0, NextUnit.opcode(ring, offset)));
    return true;
  }

  /** That element is complete. */
  void completeOwn() {
    inFlight.giveBackOwn();
  }

  // ---- what was rung

  /** How many doorbells were rung so far. */
  long rung() {
    return rung;
  }

  /** How many packets all requests make that were rung since the ring began, or was reset. */
  long packets() {
    return packets;
  }

  /** The position of the first request that was not rung for. */
  int from() {
    return from;
  }

  /** Whether requests are held back; a glance without the lock. */
  boolean holds() {
    return (from != end || longRead.goesOn()) && !stopped;
  }

  /** How many pieces of READs are complete, beside the last ones. */
  int pieces() {
    return pieces;
  }

  /** How many requests were rung for, of those behind a position. */
  int rungBehind(int tail) {
    return from - tail - (longRead.waits() ? 1 : 0);
  }

  /** Whether the card does not know the request at a position, nor ever will. */
  boolean isNeverRung(int at) {
    return stopped && (at - from >= 0 || longRead.waits() && longRead.at() == at);
  }

  /** A READ as it was posted that is at a position in pieces; null for none. */
  MemorySegment whole(int at) {
    return longRead.at() == at ? longRead.whole() : null;
  }

  /** When the request at a position was rung for. */
  int tick(int at) {
    return ticks[slot(at)];
  }

  private int underWay() {
    return from - (int) SEEN.getAcquire(this);
  }

  /** Never rings again before {@link #reset}, also for what is held back. */
  void stop() {
    stopped = true;
  }

  /** Whether it rings no more. */
  boolean isStopped() {
    return stopped;
  }

  // ---- completions, under the completion queue's lock

  /** The request at a position, the oldest, is complete. */
  void complete(int at) {
    if (at - seen >= 0) {
      seeUpTo(at + 1);
    }
  }

  /**
   * The request at a position is complete, and nobody has polled for it yet.
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

  /** Whether the completion at a position is of a piece of a READ that goes on. */
  boolean isPiece(int at) {
    return longRead.hasMore(at);
  }

  /** Has a READ go on whose piece is complete. Under both locks. */
  void completePiece(int at) {
    int slot = slot(at);
    giveBack(slot);
    marks[slot] = (byte) InFlightLimits.withoutPayment(marks[slot]);
    pieces++;
    longRead.goOn();
  }

  /**
   * How many bytes the request at a position has moved.
   *
   * @param said by its completion
   */
  int moved(int at, int said) {
    int slot = slot(at);
    return (marks[slot] & LONG) != 0 ? bytes[slot] : said;
  }

  private void seeUpTo(int to) {
    for (int at = seen; at != to; at++) {
      giveBack(slot(at));
    }
    SEEN.setRelease(this, to);
  }

  /** Forgets everything and gives back all doorbells. Under both locks. */
  void reset() {
    if (seen - from < 0) {
      seeUpTo(from);
    }
    inFlight.giveShare(share);
    share = 0;
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

  private long length(int slot) {
    return Integer.toUnsignedLong(bytes[slot]);
  }
}
