package org.hghca.driver.ring;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.hghca.abi.DataUnit;
import org.hghca.abi.NextUnit;
import org.hghca.abi.SrqContext;
import org.hghca.abi.WqeOpcode;
import org.hghca.verbs.ReceiveRequest;

/**
 * The requests of a shared receive queue of the card: a chain in memory, from which each message
 * takes the oldest. Requests complete in any order, so the free slots are in a separate chain, in
 * the order of later posts; the card follows the same chain. One slot is always free: the slot of
 * the next request is known before it is posted. Callers synchronize.
 */
public final class ReceiveChain {
  private static final int UNIT = 16;
  private static final int END = -1;

  /** Separate, so that the card's reads do not disturb posting threads. */
  private static final int COUNT_LINE = 64;

  private final MemorySegment memory;
  private final int strideLog;
  private final long[] wrIds;

  /** The successor of each slot; for free slots, the next one to be posted. */
  private final int[] next;

  /** Whether a slot holds a request that is not complete. */
  private final boolean[] taken;

  private int firstFree;
  private int lastFree;
  private int outstanding;

  /** Number of requests announced to the card, modulo 2^32. */
  private int count;

  private ReceiveChain(
      MemorySegment memory, int strideLog, long[] wrIds, int[] next, boolean[] taken) {
    this.memory = memory;
    this.strideLog = strideLog;
    this.wrIds = wrIds;
    this.next = next;
    this.taken = taken;
  }

  /**
   * A chain without requests.
   *
   * @param memory of {@link #bytes}
   * @param strideLog logarithm of the bytes of a slot
   */
  public static ReceiveChain of(MemorySegment memory, int strideLog, int slots) {
    ReceiveChain chain =
        new ReceiveChain(memory, strideLog, new long[slots], new int[slots], new boolean[slots]);
    chain.linkFrom(0);
    return chain;
  }

  /**
   * The same requests in other memory, in the same slots, with more free ones. While nothing is
   * posted to either, both hold the same content, whichever the card reads.
   *
   * @param larger memory of {@link #bytes}
   * @param slots more than before
   */
  public ReceiveChain copy(MemorySegment larger, int slots) {
    ReceiveChain copy =
        new ReceiveChain(
            larger,
            strideLog,
            Arrays.copyOf(wrIds, slots),
            Arrays.copyOf(next, slots),
            Arrays.copyOf(taken, slots));
    MemorySegment.copy(memory, 0, larger, 0, place(slots()));
    copy.firstFree = firstFree;
    copy.outstanding = outstanding;
    copy.count = count;
    copy.next[lastFree] = slots();
    copy.linkFrom(slots());
    SrqContext.writeCount(larger, copy.countOffset(), count);
    return copy;
  }

  /** Bytes of memory for a chain. */
  public static long bytes(int slots, int strideLog) {
    return ((long) slots << strideLog) + COUNT_LINE;
  }

  /** Makes a chain of all slots from one on, which ends. */
  private void linkFrom(int from) {
    for (int slot = from; slot < next.length; slot++) {
      next[slot] = slot + 1;
    }
    lastFree = next.length - 1;
    next[lastFree] = END;
  }

  public int slots() {
    return wrIds.length;
  }

  /** Where the card reads the number of requests. */
  public long countOffset() {
    return place(slots());
  }

  /** Number of requests that are not complete. */
  public int outstanding() {
    return outstanding;
  }

  /** Posts a request; there is a slot beside the one that is always free. */
  public void post(ReceiveRequest request) {
    int slot = firstFree;
    long end = ReceiveRing.writeElements(memory, request, request.sgeCount(), place(slot) + UNIT);
    DataUnit.writeTerminator(memory, end);
    publish(slot, (int) (end + UNIT - place(slot)) / UNIT, request.wrId());
  }

  /** Posts the first free slot, which holds a request except its next unit. */
  private void publish(int slot, int size16, long wrId) {
    int behind = next[slot];
    NextUnit.write(
        memory,
        place(slot),
        NextUnit.address((int) (place(behind) / UNIT), 0) | NextUnit.ADDRESS_MARKER,
        0,
        NextUnit.control(WqeOpcode.NOP, size16, NextUnit.MARKER),
        0);
    wrIds[slot] = wrId;
    taken[slot] = true;
    firstFree = behind;
    outstanding++;
    SrqContext.writeCount(memory, countOffset(), ++count);
  }

  private long place(int slot) {
    return (long) slot << strideLog;
  }

  /** Whether there is an outstanding request at a byte offset. */
  public boolean isTaken(int offset) {
    int slot = offset >>> strideLog;
    return offset == slot << strideLog && slot < taken.length && taken[slot];
  }

  /**
   * The request at a byte offset, an outstanding one, is complete.
   *
   * @return its wr_id
   */
  public long take(int offset) {
    int slot = offset >>> strideLog;
    free(slot);
    return wrIds[slot];
  }

  private void free(int slot) {
    taken[slot] = false;
    outstanding--;
    next[slot] = END;
    next[lastFree] = slot;
    lastFree = slot;
  }

  /**
   * The request at a byte offset, an outstanding one whose completion is not for the program, is
   * posted again, after all others.
   */
  public void postAgain(int offset) {
    int slot = offset >>> strideLog;
    free(slot); // the content stays until the slot's turn
    int size16 = NextUnit.size16(memory, place(slot));
    MemorySegment.copy(memory, place(slot), memory, place(firstFree), (long) size16 * UNIT);
    publish(firstFree, size16, wrIds[slot]);
  }
}
