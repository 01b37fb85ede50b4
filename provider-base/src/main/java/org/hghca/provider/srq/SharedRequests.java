package org.hghca.provider.srq;

import java.util.Arrays;
import org.hghca.verbs.ReceiveRequest;

/**
 * Copies of receive requests, each with a number: waiting requests, in posting order, and taken
 * requests, which may be returned. Callers lock.
 */
public final class SharedRequests {
  /** Two words an element: address; length in the low and key in the high half. */
  private static final int WORDS = 2;

  private final int maxSge;
  private int capacity;
  private long[] wrIds;
  private int[] sgeCounts;
  private long[] elements;

  /** When a request was posted. */
  private long[] order;

  /** A stack of unused numbers. */
  private int[] free;

  private int freeCount;

  /** A ring of the numbers of waiting requests, from the first. */
  private int[] queue;

  private int first;
  private int waiting;
  private long posted;

  public SharedRequests(int capacity, int maxSge) {
    this.maxSge = maxSge;
    this.wrIds = new long[0];
    this.sgeCounts = new int[0];
    this.elements = new long[0];
    this.order = new long[0];
    this.free = new int[0];
    this.queue = new int[0];
    resize(capacity);
  }

  public int capacity() {
    return capacity;
  }

  /** Changes the capacity, which must not be less than the number of outstanding requests. */
  public void resize(int wanted) {
    int room = wrIds.length;
    if (wanted > room) {
      int[] longer = new int[wanted];
      for (int i = 0; i < waiting; i++) {
        longer[i] = queue[wrap(first + i)];
      }
      queue = longer;
      first = 0;
      wrIds = Arrays.copyOf(wrIds, wanted);
      sgeCounts = Arrays.copyOf(sgeCounts, wanted);
      elements = Arrays.copyOf(elements, wanted * maxSge * WORDS);
      order = Arrays.copyOf(order, wanted);
      free = Arrays.copyOf(free, wanted);
      for (int request = wanted - 1; request >= room; request--) {
        free[freeCount++] = request;
      }
    }
    capacity = wanted;
  }

  /** Number of requests, including taken ones. */
  public int outstanding() {
    return wrIds.length - freeCount;
  }

  /** Number of requests added so far. */
  public long posted() {
    return posted;
  }

  public int waiting() {
    return waiting;
  }

  /** Copies a request that does not have too many elements; false if the queue is full. */
  public boolean add(ReceiveRequest request) {
    if (outstanding() >= capacity) {
      return false;
    }
    int number = free[--freeCount];
    int count = request.sgeCount();
    int at = number * maxSge * WORDS;
    for (int i = 0; i < count; i++) {
      elements[at++] = request.sgeAddress(i);
      elements[at++] = (long) request.sgeLkey(i) << 32 | request.sgeLength(i);
    }
    sgeCounts[number] = count;
    wrIds[number] = request.wrId();
    order[number] = posted++;
    queue[wrap(first + waiting++)] = number;
    return true;
  }

  /** Takes the oldest request that waits. */
  public int take() {
    int number = queue[first];
    first = wrap(first + 1);
    waiting--;
    return number;
  }

  /** Copies a request out. */
  public void copy(int number, ReceiveRequest into) {
    into.wrId(wrIds[number]).empty();
    int at = number * maxSge * WORDS;
    for (int i = 0; i < sgeCounts[number]; i++, at += WORDS) {
      long word = elements[at + 1];
      into.sge(elements[at], word & 0xffff_ffffL, (int) (word >>> 32));
    }
  }

  /** A taken request is complete. */
  public void complete(int number) {
    free[freeCount++] = number;
  }

  /** A taken request waits again, ahead of all that were posted after it. */
  public void giveBack(int number) {
    first = wrap(first + queue.length - 1);
    waiting++;
    int at = first;
    for (int i = 1; i < waiting; i++) {
      int next = wrap(first + i);
      if (order[queue[next]] > order[number]) {
        break;
      }
      queue[at] = queue[next];
      at = next;
    }
    queue[at] = number;
  }

  private int wrap(int at) {
    return at < queue.length ? at : at - queue.length;
  }
}
