package org.hghca.jgroups;

/**
 * Who has which part of the memory in which frames wait until they are sent: a ring of records in
 * the order of their requests, which complete in that order. Not thread-safe.
 */
final class SendRing {
  /** No record shares a cache line with another. */
  private static final int ALIGNMENT = 64;

  /** Requests of which one is signaled: a quarter of what fits. */
  private static final int SHARE = 4;

  private final int bytes;

  /** Where the record of each request ends, by its number. */
  private final long[] ends;

  /** Counted from the beginning of time. */
  private long head;

  private long tail;
  private long posted;
  private long completed;
  private long signaledHead;
  private long signaledPosted;

  /** For some requests in some memory. */
  SendRing(int bytes, int depth) {
    this.bytes = bytes;
    this.ends = new long[depth];
  }

  private static int align(int length) {
    return (length + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** Where a record of that length begins, in the beginning of time, without a break in it. */
  private long start(int length) {
    int at = (int) (head % bytes);
    return at + length > bytes ? head + bytes - at : head;
  }

  /** Whether there is room for a record, and for so many short ones behind it. */
  boolean fits(int length, int more) {
    int aligned = align(length);
    long end = start(aligned) + aligned + (long) more * ALIGNMENT;
    return end - tail <= bytes && posted - completed + more < ends.length;
  }

  /** Takes the memory of a record, which must fit: its offset. */
  int take(int length) {
    int aligned = align(length);
    long start = start(aligned);
    head = start + aligned;
    ends[(int) (posted++ % ends.length)] = head;
    return (int) (start % bytes);
  }

  /** The number of the record that was taken last. */
  long number() {
    return posted - 1;
  }

  /** Whether the request of the record that was taken last must be signaled. */
  boolean signals(boolean always) {
    boolean due =
        always
            || head - signaledHead >= bytes / SHARE
            || posted - signaledPosted >= ends.length / SHARE;
    if (due) {
      signaledHead = head;
      signaledPosted = posted;
    }
    return due;
  }

  /** A request is complete, and with it all before; of its number there are the lower 31 bits. */
  void complete(int number) {
    long known = completed + (number - (int) completed & Integer.MAX_VALUE);
    completed = known + 1;
    tail = ends[(int) (known % ends.length)];
  }

  boolean isEmpty() {
    return posted == completed;
  }
}
