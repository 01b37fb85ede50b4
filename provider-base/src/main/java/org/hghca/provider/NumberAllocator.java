package org.hghca.provider;

import java.util.BitSet;
import java.util.function.IntPredicate;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * Allocates object numbers round-robin: a number is reused as late as possible, so that the card
 * has the longest time to drop its state. Thread-safe.
 */
public final class NumberAllocator {
  private final String what;
  private final int first;
  private final int end;
  private final BitSet used = new BitSet();
  private int retired;
  private int next;

  /**
   * An allocator over a range.
   *
   * @param what the plural, for the message when there are none left
   */
  public NumberAllocator(String what, int first, int end) {
    this(what, first, end, first);
  }

  /**
   * An allocator over a range that begins somewhere in it, and continues at its first number after
   * its last.
   *
   * @param what the plural, for the message when there are none left
   * @param start the number that is allocated first
   */
  public NumberAllocator(String what, int first, int end, int start) {
    this.what = what;
    this.first = first;
    this.end = end;
    this.next = start;
  }

  public int allocate() {
    return allocate(number -> true);
  }

  /**
   * Allocates a number that fits.
   *
   * @param fits tests a free number
   * @throws VerbsException ENOMEM when there is none
   */
  public synchronized int allocate(IntPredicate fits) {
    int number = find(next, end, fits);
    if (number < 0) {
      number = find(first, next, fits);
    }
    if (number < 0) {
      throw new VerbsException(Errno.ENOMEM, complaint());
    }
    used.set(number);
    next = number + 1;
    return number;
  }

  /**
   * Allocates a certain number, which may lie outside of the range.
   *
   * @return whether it was free
   */
  public synchronized boolean claim(int number) {
    boolean free = !used.get(number);
    used.set(number);
    return free;
  }

  private int find(int from, int to, IntPredicate fits) {
    for (int number = used.nextClearBit(from);
        number < to;
        number = used.nextClearBit(number + 1)) {
      if (fits.test(number)) {
        return number;
      }
    }
    return -1;
  }

  private String complaint() {
    int busy = used.get(first, end).cardinality() - retired;
    if (busy == end - first) {
      return "all %d %s of the device are in use".formatted(busy, what);
    }
    return ("of the device's %d %s %d are in use, %d retired, because the card continues at an"
            + " unknown position, and %d stopped at a position where a new one does not fit:"
            + " close all contexts of the device and open it again, which resets it and gives"
            + " them back")
        .formatted(end - first, what, busy, retired, end - first - busy - retired);
  }

  public synchronized void free(int number) {
    used.clear(number);
  }

  /** Marks a number in use as retired: it is not allocated again. */
  public synchronized void retire(int number) {
    if (used.get(number)) {
      retired++;
    }
  }

  /** Number of retired numbers. */
  public synchronized int retired() {
    return retired;
  }

  /** Number of allocated numbers, including retired ones. */
  public synchronized int inUse() {
    return used.cardinality();
  }
}
