package org.hghca.driver.rtl.ring;

import java.lang.foreign.MemorySegment;
import java.util.function.IntSupplier;
import org.hghca.abi.DataUnit;
import org.hghca.abi.NextUnit;
import org.hghca.driver.completion.QueuePairRings;
import org.hghca.driver.ring.ReceivePosition;
import org.hghca.driver.ring.ReceiveRing;
import org.hghca.driver.ring.RingShape;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.spi.ProviderAccess;

/**
 * The receive ring of a card that stops at a bad request, takes none without memory, and does not
 * flush: each request is checked before it is written; one without memory names a region that
 * nobody can access; the driver flushes what the card has left, and the card continues in the ring
 * where it was. The locks are those of {@link ReceiveRing}.
 */
public final class CheckedReceiveRing extends ReceiveRing {
  private static final int UNIT = 16;

  private final ReceiveChecks checks;

  /** Number of leading bytes of its memory that a request hides from the card. */
  private final int skipped;

  /** The key of {@link EmptyReceiveRegion}. */
  private final int filler;

  /** The slot at which the card continues after a reset. */
  private IntSupplier firstSlot = () -> 0;

  /** Number of completed requests that the card has not taken: they were flushed here. */
  private int flushed;

  /**
   * A ring over zeroed memory.
   *
   * @param shape with more slots than the depth
   * @param filler the key of {@link EmptyReceiveRegion}
   */
  public CheckedReceiveRing(RingShape shape, int maxSge, ReceiveChecks checks, int filler) {
    super(shape, maxSge);
    this.checks = checks;
    this.skipped = checks.skipped();
    this.filler = filler;
  }

  /** That of a queue pair: on the RTL each has such a ring. */
  public static CheckedReceiveRing of(QueuePairRings qp) {
    return (CheckedReceiveRing) qp.receives();
  }

  /** Sets the slot at which the card continues after each reset, and clears the ring so. */
  public void startAt(IntSupplier slot) {
    firstSlot = slot;
    reset();
  }

  // ---- posting

  @Override
  public int check(ReceiveRequest request, int index) {
    int count = super.check(request, index);
    checks.check(request, index);
    return count;
  }

  @Override
  protected long writeData(MemorySegment slots, ReceiveRequest request, int count, long at) {
    long next =
        skipped == 0
            ? super.writeData(slots, request, count, at)
            : writeRest(slots, request, count, at);
    if (next != at) {
      return next;
    }
    DataUnit.write(slots, at, EmptyReceiveRegion.BYTES, filler, 0);
    return at + UNIT;
  }

  /** As {@link #writeElements}, without the first bytes. */
  private long writeRest(MemorySegment slots, ReceiveRequest request, int count, long at) {
    long next = at;
    int skip = skipped;
    for (int i = 0; i < count; i++) {
      int length = request.sgeLength(i);
      int less = Math.min(skip, length);
      skip -= less;
      if (length != less) {
        long address = request.sgeAddress(i) + less;
        DataUnit.write(slots, next, length - less, request.sgeLkey(i), address);
        next += UNIT;
      }
    }
    return next;
  }

  /** Number of leading bytes of its memory that a request hides from the card. */
  public int skipped() {
    return skipped;
  }

  // ---- flushing, under the completion queue's lock

  /** The oldest outstanding request is flushed here, and the card's position does not change. */
  public void flush(Completions out, int index) {
    flushed++;
    NextUnit.clear(ring, offset(tail()));
    int status = WcStatus.WR_FLUSH_ERR.code();
    ProviderAccess.get().fill(out, index, takeOldest(), status, WcOpcode.RECV.code(), 0, qpn);
  }

  /** Whether the card's next completion belongs to a request that was flushed here before. */
  public boolean isFlushed() {
    return flushed != 0;
  }

  /** The card has completed a request that was flushed here. */
  public void completeFlushed() {
    flushed--;
  }

  /** Number of requests posted to the card and not completed by it. */
  public int onCard() {
    return outstanding() + flushed;
  }

  /**
   * The position at which the card continues.
   *
   * @param more number of receives with completions that are still in the completion queue
   */
  public ReceivePosition position(int more) {
    return new ReceivePosition(slots(), strideLog(), tail() - flushed + more & slots() - 1);
  }

  @Override
  public void reset() {
    flushed = 0;
    restart(firstSlot.getAsInt());
  }

  // ---- memory in use

  /** Whether an outstanding request names memory by its key. Callers lock. */
  public boolean names(int key) {
    int end = head();
    for (int at = tail(); at - end < 0; at++) { // none while a reset moves both back
      long unit = offset(at) + UNIT;
      for (; !DataUnit.isTerminator(ring, unit); unit += UNIT) {
        if (DataUnit.lkey(ring, unit) == key) {
          return true;
        }
      }
    }
    return false;
  }
}
