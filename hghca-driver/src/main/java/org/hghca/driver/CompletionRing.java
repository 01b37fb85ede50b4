package org.hghca.driver;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.hghca.abi.Cqe;

/**
 * The ring of a completion queue. The card writes completions one behind the other and knows no
 * consumer index. An empty place holds a sentinel in its owner byte, which the card overwrites
 * last, and which taking a completion puts back.
 *
 * <p>Under the completion queue's lock, except for {@link #isEmpty}. A position counts on round
 * after round; the place in memory is its low bits.
 */
final class CompletionRing {
  private final MemorySegment memory;
  private final int mask;

  /** The position of the oldest completion, or of the place where the next one comes. */
  private int index;

  /**
   * An empty ring.
   *
   * @param slots a power of two
   * @param first the position that the card begins with
   */
  CompletionRing(MemorySegment memory, int slots, int first) {
    this.memory = memory;
    this.mask = slots - 1;
    this.index = first;
    Cqe.fill(memory, 0, slots);
  }

  /** Where the card writes. */
  MemorySegment memory() {
    return memory;
  }

  int slots() {
    return mask + 1;
  }

  int index() {
    return index;
  }

  /** The offset in memory of a position. */
  long place(int at) {
    return (long) (at & mask) * Cqe.SIZE;
  }

  /** The offset in memory behind another. */
  long next(long place) {
    return place + Cqe.SIZE & (long) mask * Cqe.SIZE;
  }

  /** Whether nothing is at a position. */
  boolean isEmpty(int at) {
    return Cqe.owner(memory, place(at)) == Cqe.SENTINEL;
  }

  /**
   * Whether there is nothing to take, without the lock. An empty place tells only when nobody has
   * gone beyond it meanwhile, who moves the index before emptying the place: who finds the queue
   * empty may wait for an event, which completions that are there already do not give.
   */
  boolean isEmpty() {
    int at = index;
    return isEmpty(at) && at == index;
  }

  /** Whether nothing of the card stands here. Under the lock. */
  boolean isDrained() {
    return isEmpty(index);
  }

  /** The position behind the last completion: behind the first empty place there are none. */
  int end() {
    return index + unpolled();
  }

  /** How many completions are in the ring. */
  int unpolled() {
    int count = 0;
    int end = mask + 1;
    while (count < end) {
      int middle = count + end >>> 1;
      if (isEmpty(index + middle)) {
        end = middle;
      } else {
        count = middle + 1;
      }
    }
    return count;
  }

  /**
   * How many completions can be taken; what they say may be read then.
   *
   * @param most as far as it looks, 1 or more
   */
  int ready(int most) {
    MemorySegment places = memory;
    int first = index;
    int count = 0;
    long at = place(first);
    long end = place(first + Math.min(most, slots()));
    do {
      if (Cqe.owner(Cqe.seenDword(places, at)) == Cqe.SENTINEL) {
        break;
      }
      count++;
      at = next(at);
    } while (at != end);
    VarHandle.acquireFence(); // the owner bytes are read before what they stand for
    return count;
  }

  /**
   * The oldest completions were read: empties their places.
   *
   * @param count 1 or more
   */
  void take(int count) {
    MemorySegment places = memory;
    int first = index;
    index = first + count;
    // A reader that sees a place empty sees that the queue continues after it.
    VarHandle.storeStoreFence();
    // The places are empty before the requests' slots are free: a request posted into such a slot
    // may complete into one of these places.
    long at = place(first);
    long end = place(first + count);
    do {
      Cqe.arm(places, at);
      at = next(at);
    } while (at != end);
  }

  /** Takes a completion out; those before it close up. */
  void remove(int at) {
    for (int i = at; i != index; i--) {
      copy(i - 1, i);
    }
    begin(index + 1);
  }

  /** Takes the completions of a queue pair out; those of others close up. */
  void removeAll(int qpn) {
    int end = end();
    int first = end;
    for (int i = end - 1; i - index >= 0; i--) {
      if (Cqe.qpn(memory, place(i)) != qpn) {
        first--;
        copy(i, first);
      }
    }
    begin(first);
  }

  private void copy(int from, int to) {
    MemorySegment.copy(memory, place(from), memory, place(to), Cqe.SIZE);
  }

  private void begin(int first) {
    int old = index;
    index = first;
    VarHandle.storeStoreFence(); // as in taking one
    for (; old != first; old++) {
      Cqe.arm(memory, place(old));
    }
  }
}
