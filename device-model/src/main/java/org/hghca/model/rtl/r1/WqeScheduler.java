package org.hghca.model.rtl.r1;

import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import org.hghca.abi.Doorbell;
import org.hghca.model.rtl.Doorbells;
import org.hghca.model.rtl.Hazards;
import org.hghca.model.rtl.SendWqe;

/**
 * Puts the WQEs of doorbells and of chains into the order in which the parser takes them. A WQE is
 * represented by its doorbell: opcode, fence, position, size and queue pair.
 *
 * <p>The first WQE of a doorbell waits while a chain of its queue pair continues, and so do all
 * doorbells after it. But the flag for this is set and cleared when the parser takes a WQE: after
 * the last WQE of a chain all waiting doorbells pass, including chains, which are then executed
 * alternately.
 */
final class WqeScheduler {
  /** Number of WQEs that may have passed but are not parsed. */
  private static final int AHEAD = 16;

  /** Bits of a queue pair's number that count. */
  private static final int NUMBERS = 1 << 10;

  private static final int PLACE_MASK = 0xff_ffff;
  private static final int UNIT = 16;

  private final Doorbells doorbells;
  private final Hazards hazards;

  /** Queue pairs whose last parsed WQE has a successor. */
  private final BitSet chains = new BitSet(NUMBERS);

  private final Deque<Long> ahead = new ArrayDeque<>();
  private final Deque<Long> continuations = new ArrayDeque<>();
  private boolean lastContinues;

  WqeScheduler(Doorbells doorbells, Hazards hazards) {
    this.doorbells = doorbells;
    this.hazards = hazards;
  }

  /** Byte offset of a WQE in its queue. */
  static long offset(long wqe) {
    return (long) ((int) wqe >>> Doorbell.HEAD_SHIFT & PLACE_MASK) * UNIT;
  }

  /** Whether there is a WQE to parse. */
  boolean hasNext() {
    return !ahead.isEmpty() || admit();
  }

  /** Takes the next WQE, which must exist. */
  long take() {
    return ahead.remove();
  }

  /** A WQE has been parsed that {@code next} is behind; while it is sent others get past. */
  void parsed(long wqe, SendWqe next) {
    int qpn = Doorbell.qpn(wqe);
    boolean interleaved = next.nextSize > 0 && startsAnother(wqe);
    chains.set(qpn % NUMBERS, next.nextSize > 0);
    if (next.nextSize > 0) {
      continuations.add(continuation(qpn, next));
    }
    if (interleaved) {
      hazards.strike(
          "12.14", "doorbells of QP 0x%x are executed alternately, not in order".formatted(qpn));
    }
    while (ahead.size() < AHEAD && admit()) {
      // until one waits
    }
  }

  /** Whether behind a WQE of a chain comes one of its queue pair that is not of the chain. */
  private boolean startsAnother(long wqe) {
    for (long other : ahead) {
      if (Doorbell.qpn(other) == Doorbell.qpn(wqe)) {
        return true;
      }
    }
    return false;
  }

  private static long continuation(int qpn, SendWqe next) {
    long place = Math.min(next.nextOffset / UNIT, PLACE_MASK);
    return (long) qpn << Doorbell.QPN_SHIFT
        | (long) next.nextSize << Doorbell.SIZE_SHIFT
        | place << Doorbell.HEAD_SHIFT
        | (next.nextFence ? 1L << Doorbell.FENCE_SHIFT : 0)
        | next.nextOpcode;
  }

  /** Lets one get past, of doorbells and chains alternately; returns whether one did. */
  private boolean admit() {
    if (lastContinues && admitDoorbell()) {
      return true;
    }
    if (!continuations.isEmpty()) {
      lastContinues = true;
      return ahead.add(continuations.remove());
    }
    return admitDoorbell();
  }

  private boolean admitDoorbell() {
    lastContinues = false;
    if (!doorbells.hasEntry() || chains.get(Doorbell.qpn(doorbells.first()) % NUMBERS)) {
      return false;
    }
    return ahead.add(doorbells.take());
  }

  void reset() {
    chains.clear();
    ahead.clear();
    continuations.clear();
    lastContinues = false;
  }
}
