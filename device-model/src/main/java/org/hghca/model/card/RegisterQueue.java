package org.hghca.model.card;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Register writes on their way from the host's threads to the HCA: a bounded queue of many
 * producers and one consumer that allocates nothing. An entry is a number that identifies the
 * register, and the value.
 */
public final class RegisterQueue {
  private static final int CAPACITY = 4096;
  private static final int MASK = CAPACITY - 1;

  private final long[] values = new long[CAPACITY];
  private final int[] registers = new int[CAPACITY];

  /**
   * Per slot: the sequence number at which it may be filled, or that plus one when it is filled.
   */
  private final AtomicLongArray turns = new AtomicLongArray(CAPACITY);

  private final AtomicLong tail = new AtomicLong();
  private long head;

  public RegisterQueue() {
    for (int i = 0; i < CAPACITY; i++) {
      turns.set(i, i);
    }
  }

  /**
   * Adds an entry; any thread.
   *
   * @return whether there was room
   */
  public boolean offer(int register, long value) {
    while (true) {
      long at = tail.get();
      int place = (int) at & MASK;
      long turn = turns.get(place);
      if (turn == at) {
        if (tail.compareAndSet(at, at + 1)) {
          registers[place] = register;
          values[place] = value;
          turns.set(place, at + 1);
          return true;
        }
      } else if (turn < at) {
        return false;
      }
    }
  }

  /** Whether there is an entry; the consumer's thread, or while it stands still. */
  public boolean hasEntry() {
    return turns.get((int) head & MASK) == head + 1;
  }

  /** The register of the oldest entry, which must exist. */
  public int register() {
    return registers[(int) head & MASK];
  }

  public long value() {
    return values[(int) head & MASK];
  }

  /** Takes the oldest entry out. */
  public void remove() {
    turns.setRelease((int) head & MASK, head + CAPACITY);
    head++;
  }
}
