package org.hghca.driver.completion;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Optional;
import org.hghca.abi.Cqe;
import org.hghca.driver.trace.CompletionRecord;
import org.hghca.vfio.direct.RingMemory;
import org.hghca.vfio.trace.DeviceTrace;

/**
 * The ring of a completion queue. The card writes completions one after another and has no consumer
 * index. A free entry holds a sentinel in its owner byte, which the card overwrites last, and which
 * consuming the completion restores.
 *
 * <p>Under the completion queue's lock, except for {@link #isEmpty}. A position is a running count;
 * its low bits are the index in memory.
 */
public final class CompletionRing {
  private final MemorySegment memory;
  private final int mask;

  /** Null if the card is not traced. */
  private final DeviceTrace trace;

  /** The number of the queue, in the trace. */
  private final int number;

  /** Where the memory begins in {@link #segment}. */
  private final long base;

  /**
   * The position of the oldest completion, or of the next one if there is none. Only the low half
   * is a position.
   */
  private long index;

  /** {@link #index} less the number of completions that were taken. */
  private long notTaken;

  /**
   * An empty ring.
   *
   * @param trace where the completions are recorded; empty for nowhere
   * @param number of the queue
   * @param slots a power of two
   * @param first the position of the first completion: 0, unless the number of the queue is
   *     continued
   */
  public CompletionRing(
      Optional<DeviceTrace> trace, int number, MemorySegment memory, int slots, int first) {
    if (slots <= 0 || Integer.bitCount(slots) != 1) {
      throw new IllegalArgumentException("%d slots: not a power of two".formatted(slots));
    }
    this.trace = trace.orElse(null);
    this.number = number;
    this.memory = memory;
    RingMemory direct = RingMemory.guarded(memory);
    direct.checkHolds((long) slots * Cqe.SIZE);
    this.base = direct.at(0);
    this.mask = slots - 1;
    this.index = first;
    this.notTaken = first;
    Cqe.fill(memory, 0, slots);
  }

  /** The memory that the card writes. */
  public MemorySegment memory() {
    return memory;
  }

  public int slots() {
    return mask + 1;
  }

  public int index() {
    return (int) index;
  }

  /** Number of completions that were taken, from the ring's creation on. */
  public long taken() {
    return index - notTaken;
  }

  /** The offset in {@link #memory} of a position. */
  public long offset(int at) {
    return (long) (at & mask) * Cqe.SIZE;
  }

  /** The segment of the entries for whoever has the lock of an open queue. */
  MemorySegment segment() {
    return RingMemory.guardedSegment();
  }

  /** Where the entry at a position is in {@link #segment}. */
  long at(int at) {
    return RingMemory.at(base, offset(at));
  }

  /** Whether the entry at a position is free. */
  public boolean isEmpty(int at) {
    return Cqe.owner(memory, offset(at)) == Cqe.SENTINEL;
  }

  /**
   * Whether the ring is empty, without the lock. A free entry is conclusive only if no thread has
   * advanced beyond it meanwhile, because polling advances the index before it frees the entry. The
   * result must be exact: a thread that finds the queue empty may wait for an event, and existing
   * completions raise none.
   */
  public boolean isEmpty() {
    int at = index();
    return isEmpty(at) && at == index();
  }

  /** The position after the last completion: there are none after the first free entry. */
  public int end() {
    return index() + unpolled();
  }

  /** Number of completions in the ring. */
  public int unpolled() {
    int count = 0;
    int end = mask + 1;
    while (count < end) {
      int middle = count + end >>> 1;
      if (isEmpty(index() + middle)) {
        end = middle;
      } else {
        count = middle + 1;
      }
    }
    return count;
  }

  /**
   * The oldest completion was read: frees its entry.
   *
   * @param segment either {@link #memory} or {@link #segment}
   * @param at where it is there
   */
  void take(MemorySegment segment, long at) {
    if (trace != null) {
      record(segment, at);
    }
    index++;
    // A reader that sees a free entry also sees the advanced index.
    VarHandle.storeStoreFence();
    // The entry is freed before the request's slot: a request posted into that slot may complete
    // into this entry.
    Cqe.free(segment, at);
  }

  /** A method of its own, so that the one above stays small enough to be inlined. */
  private void record(MemorySegment segment, long at) {
    CompletionRecord.record(trace, number, (int) index & mask, segment, at);
  }

  /** Removes a completion; earlier ones are moved up. */
  public void remove(int at) {
    if (trace != null) {
      record(memory, offset(at));
    }
    for (int i = at; i != index(); i--) {
      copy(i - 1, i);
    }
    begin(index() + 1);
  }

  /** Removes the completions of a queue pair; those of others are moved up. */
  void removeAll(int qpn) {
    int end = end();
    int first = end;
    for (int i = end - 1; i - index() >= 0; i--) {
      if (Cqe.qpn(memory, offset(i)) != qpn) {
        first--;
        copy(i, first);
      } else if (trace != null) {
        CompletionRecord.record(trace, number, i & mask, memory, offset(i));
      }
    }
    notTaken += first - index();
    begin(first);
  }

  private void copy(int from, int to) {
    MemorySegment.copy(memory, offset(from), memory, offset(to), Cqe.SIZE);
  }

  private void begin(int first) {
    int old = index();
    index += first - old;
    VarHandle.storeStoreFence(); // as in taking one
    for (; old != first; old++) {
      Cqe.free(memory, offset(old));
    }
  }
}
