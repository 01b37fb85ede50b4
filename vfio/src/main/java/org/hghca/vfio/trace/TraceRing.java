package org.hghca.vfio.trace;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;

/**
 * Memory of fixed size for records, the newest of which it keeps. A writer claims a slot by one
 * atomic addition and waits for nobody. Thread-safe; the record of a thread that stood still while
 * the others filled the whole ring is lost.
 *
 * <p>The number of slots claimed has the first line of the memory for itself: two devices' rings,
 * each written by a thread of its own, share no cache line.
 *
 * <pre>
 * 00h stamp: position + 1 when the record is whole, else 0
 * 08h begin   10h end   18h kind   20h first   28h second   30h third   38h fourth
 * </pre>
 */
final class TraceRing {
  private static final int SLOT = 64;
  private static final int BEGIN = 8;
  private static final int END = 16;
  private static final int KIND = 24;
  private static final int FIRST = 32;
  private static final int SECOND = 40;
  private static final int THIRD = 48;
  private static final int FOURTH = 56;
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  /** Slots that were claimed so far. */
  private static final long CLAIMED = 0;

  /** The first slot; processors fetch lines by two. */
  private static final long SLOTS = 128;

  private final MemorySegment memory;
  private final long mask;

  /**
   * An empty ring.
   *
   * @param slots a power of two
   */
  TraceRing(int slots) {
    // A thread may still record when the trace has been written: the memory lives as long as it.
    memory = Arena.ofAuto().allocate(SLOTS + (long) slots * SLOT, SLOTS);
    mask = slots - 1L;
    memory.fill((byte) 0); // now, so that no record waits for a page
  }

  void write(int kind, long begin, long end, long first, long second, long third, long fourth) {
    MemorySegment slots = memory;
    long position = (long) LONG.getAndAdd(slots, CLAIMED, 1L);
    long at = at(position);
    LONG.set(slots, at, 0L);
    VarHandle.storeStoreFence(); // a reader sees that the old record is going before the new one
    LONG.set(slots, at + BEGIN, begin);
    LONG.set(slots, at + END, end);
    LONG.set(slots, at + KIND, (long) kind);
    LONG.set(slots, at + FIRST, first);
    LONG.set(slots, at + SECOND, second);
    LONG.set(slots, at + THIRD, third);
    LONG.set(slots, at + FOURTH, fourth);
    LONG.setRelease(slots, at, position + 1);
  }

  /**
   * Reads the records, oldest first, while others may be written.
   *
   * @return number of records that are no longer there, or not whole yet
   */
  long read(Consumer<TraceRecord> reader) {
    long end = (long) LONG.getVolatile(memory, CLAIMED);
    long start = Math.max(0, end - mask - 1);
    long lost = start;
    for (long position = start; position < end; position++) {
      long at = at(position);
      long before = (long) LONG.getAcquire(memory, at);
      long kind = get(at + KIND);
      long begin = get(at + BEGIN);
      long ended = get(at + END);
      long first = get(at + FIRST);
      long second = get(at + SECOND);
      long third = get(at + THIRD);
      long fourth = get(at + FOURTH);
      VarHandle.acquireFence(); // what was read is older than the second look at the stamp
      if (before == position + 1 && get(at) == before) {
        reader.accept(
            new TraceRecord(TraceKind.of((int) kind), begin, ended, first, second, third, fourth));
      } else {
        lost++;
      }
    }
    return lost;
  }

  private long at(long position) {
    return SLOTS + (position & mask) * SLOT;
  }

  private long get(long at) {
    return (long) LONG.get(memory, at);
  }
}
