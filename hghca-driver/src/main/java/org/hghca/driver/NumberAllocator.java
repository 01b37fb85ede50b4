package org.hghca.driver;

import java.util.BitSet;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * Hands out object numbers, each after all others of the range before it comes again: what a card
 * still holds under an old number has the longest time to go. Thread-safe.
 */
final class NumberAllocator {
  private final String what;
  private final int first;
  private final int end;
  private final BitSet used = new BitSet();
  private int next;

  /**
   * An allocator over a range.
   *
   * @param what the plural, for the message when there are none left
   */
  NumberAllocator(String what, int first, int end) {
    this.what = what;
    this.first = first;
    this.end = end;
    this.next = first;
  }

  synchronized int allocate() {
    int number = used.nextClearBit(next);
    if (number >= end) {
      number = used.nextClearBit(first);
    }
    if (number >= end) {
      throw new VerbsException(
          Errno.ENOMEM, "all %d %s of the device are in use".formatted(end - first, what));
    }
    used.set(number);
    next = number + 1;
    return number;
  }

  synchronized void free(int number) {
    used.clear(number);
  }

  synchronized int inUse() {
    return used.cardinality();
  }
}
