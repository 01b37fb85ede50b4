package org.hghca.driver;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.hghca.abi.Doorbell;
import org.hghca.abi.NextUnit;
import org.hghca.uar.UarPage;

/**
 * The doorbells of one send ring on a device that can take only so many. A request whose doorbell
 * cannot be rung is held back, and those behind it are chained to it; the next post, the next poll
 * or the next sweep rings for them.
 *
 * <p>Under the ring's lock, except for {@link #complete}, which is under that of the completion
 * queue.
 */
final class SendBells {
  private static final int UNIT_SHIFT = 4;

  /** Marks of a slot: stands behind another in a chain. */
  private static final byte CHAINED = 0;

  /** First of a chain whose doorbell was not rung. */
  private static final byte HELD = 1;

  /** First of a chain whose doorbell counts against the ring's share. */
  private static final byte SHARED = 2;

  /** First of a chain whose doorbell is of the reserve. */
  private static final byte RESERVED = 3;

  private static final VarHandle SEEN;

  static {
    try {
      SEEN = MethodHandles.lookup().findVarHandle(SendBells.class, "seen", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final DoorbellBudget budget;
  private final SendRing owner;
  private final MemorySegment ring;
  private final UarPage uar;
  private final int qpn;
  private final int strideLog;

  /** By slot. Written before the doorbell, and not again before the slot is free. */
  private final byte[] marks;

  /** How many doorbells are the ring's own. */
  private int share;

  /** How many doorbells of the share were rung so far. */
  private long rung;

  /** How many of those need not be counted any more; the completion queue's. */
  private int seen;

  /** How many doorbells of the reserve were rung so far. */
  private long reserved;

  /** The position of the first request that was not rung, and that behind the last. */
  private int from;

  private int end;

  /** Whether another request may be chained to the last. */
  private boolean open;

  /** Whether the ring is in the list of those that hold doorbells back; so if it does. */
  private boolean waits;

  private boolean silent;

  SendBells(
      DoorbellBudget budget,
      SendRing owner,
      MemorySegment ring,
      UarPage uar,
      int qpn,
      int slots,
      int strideLog) {
    this.budget = budget;
    this.owner = owner;
    this.ring = ring;
    this.uar = uar;
    this.qpn = qpn;
    this.strideLog = strideLog;
    this.marks = new byte[slots];
  }

  /** The ring takes requests: it gets a share. */
  void open() {
    if (share == 0) {
      share = budget.takeShare();
    }
  }

  /** Rings for the request that was written last, or holds it back. */
  void post(int at, long bell) {
    if (from == end && !silent && (int) rung - (int) SEEN.getAcquire(this) < share) {
      marks[at & marks.length - 1] = SHARED;
      rung++;
      from = at + 1;
      end = from;
      uar.ringSendQueue(bell);
    } else {
      add(at, Doorbell.opcode(bell), Doorbell.size16(bell), Doorbell.fence(bell) != 0);
      ring();
    }
  }

  /**
   * Holds the request that was written last back, chained to the one before it if that was held
   * back too, until {@link #ring}.
   */
  void add(int at, int opcode, int size, boolean fenced) {
    boolean chained = from != end && open && !fenced;
    long offset = offset(at);
    if (chained) {
      NextUnit.link(ring, offset(at - 1), (int) (offset >>> UNIT_SHIFT), opcode, size, 0);
    }
    marks[at & marks.length - 1] = chained ? CHAINED : HELD;
    end = at + 1;
    open = !fenced;
    if (silent) {
      from = end;
    }
  }

  /** Rings for what is held back, as far as doorbells may be rung now. */
  void ring() {
    if (!ringPaid() && !waits) {
      waits = true;
      budget.hold(owner);
      ringPaidAfterAll();
    }
  }

  /** As {@link #ring}, when it is the turn of a ring in the list of those that hold back. */
  void ringHeld() {
    if (waits) {
      waits = !ringPaid();
      budget.endTurn(owner, waits);
      if (waits) {
        ringPaidAfterAll();
      }
    }
  }

  /** Who gives one back from here on finds us in the list; who has done so before is seen. */
  private void ringPaidAfterAll() {
    VarHandle.fullFence();
    ringPaid();
  }

  /** Returns whether nothing is held back any more. */
  private boolean ringPaid() {
    while (from != end) {
      byte mark = pay();
      if (mark == HELD) {
        return false;
      }
      ringFirst(mark);
    }
    return true;
  }

  /** Rings for the first chain. */
  private void ringFirst(byte mark) {
    int first = from;
    long offset = offset(first);
    long bell =
        Doorbell.sendQueue(
            qpn,
            NextUnit.size16(ring, offset),
            (int) (offset >>> UNIT_SHIFT),
            NextUnit.nextFence(ring, offset), // only of one that nothing is chained to
            NextUnit.opcode(ring, offset));
    int next = first + 1;
    while (next != end && marks[next & marks.length - 1] == CHAINED) {
      next++;
    }
    from = next;
    marks[first & marks.length - 1] = mark;
    uar.ringSendQueue(bell);
  }

  private byte pay() {
    if ((int) rung - (int) SEEN.getAcquire(this) < share) {
      rung++;
      return SHARED;
    }
    if (budget.takeOne()) {
      reserved++;
      return RESERVED;
    }
    return HELD;
  }

  private long offset(int at) {
    return (long) (at & marks.length - 1) << strideLog;
  }

  /**
   * Rings for an element that is no request.
   *
   * @param size in units
   * @return false when no doorbell may be rung now
   */
  boolean ringOwn(int offset, int size) {
    if (!budget.takeOne()) {
      return false;
    }
    uar.ringSendQueue(
        Doorbell.sendQueue(qpn, size, offset >>> UNIT_SHIFT, 0, NextUnit.opcode(ring, offset)));
    return true;
  }

  /** That element is complete. */
  void completeOwn() {
    budget.giveOne();
  }

  /** How many doorbells were rung so far. */
  long rung() {
    return rung + reserved;
  }

  /** The position of the first request that was not rung. */
  int from() {
    return from;
  }

  /** Never rings again before {@link #reset}, also for what was held back. */
  void silence() {
    silent = true;
    from = end;
  }

  /** The request in a slot is complete. Under the completion queue's lock. */
  void complete(int slot) {
    byte mark = marks[slot];
    if (mark == SHARED) {
      SEEN.setRelease(this, seen + 1);
    } else if (mark == RESERVED) {
      budget.giveOne();
    }
  }

  /** The request in a slot is complete, and nobody has polled for it yet. As {@link #complete}. */
  void completeUnpolled(int slot) {
    complete(slot);
    marks[slot] = CHAINED; // once is enough
  }

  /**
   * Forgets everything and gives back all doorbells. Under both locks.
   *
   * @param tail the position of the oldest request that is not complete
   */
  void reset(int tail) {
    for (int at = tail; at != end; at++) {
      if (marks[at & marks.length - 1] == RESERVED) {
        budget.giveOne();
      }
    }
    budget.giveShare(share);
    share = 0;
    SEEN.setRelease(this, (int) rung);
    from = 0;
    end = 0;
    silent = false;
  }
}
