package org.hghca.model.rtl;

/** Data units of a WQE in order, and the consumed part. */
public final class SgeList {
  /** More do not fit into the bytes that the card fetches. */
  public static final int MAX = 31;

  private final int[] keys = new int[MAX];
  private final int[] lengths = new int[MAX];
  private final long[] addresses = new long[MAX];
  private int count;

  /** The data unit that is next, and how many of its bytes are used. */
  private int at;

  private int used;

  public void clear() {
    count = 0;
    at = 0;
    used = 0;
  }

  public void add(int length, int key, long address) {
    lengths[count] = length;
    keys[count] = key;
    addresses[count++] = address;
  }

  public void copy(SgeList other) {
    clear();
    for (int i = 0; i < other.count; i++) {
      add(other.lengths[i], other.keys[i], other.addresses[i]);
    }
  }

  public int count() {
    return count;
  }

  public int key(int i) {
    return keys[i];
  }

  public int length(int i) {
    return lengths[i];
  }

  public long address(int i) {
    return addresses[i];
  }

  /** Bytes of all of them. */
  public long total() {
    long total = 0;
    for (int i = 0; i < count; i++) {
      total += lengths[i];
    }
    return total;
  }

  public boolean hasEmpty() {
    for (int i = 0; i < count; i++) {
      if (lengths[i] == 0) {
        return true;
      }
    }
    return false;
  }

  /** Whether the next data unit of a message has no bytes. */
  public boolean meetsEmpty(int bytes) {
    int behind = bytes + used;
    for (int i = at; i < count && behind > 0; i++) {
      if (lengths[i] == 0) {
        return true;
      }
      behind -= lengths[i];
    }
    return false;
  }

  /** Remaining bytes. */
  public long left() {
    long left = -used;
    for (int i = at; i < count; i++) {
      left += lengths[i];
    }
    return left;
  }

  /** The data unit that is next: an index, {@link #count} at the end. */
  public int index() {
    while (at < count && used == lengths[at]) {
      at++;
      used = 0;
    }
    return at;
  }

  /** The data unit that the last byte went into; the first before any byte. */
  public int reached() {
    return at;
  }

  /** Where the next byte of the data unit at {@link #index} stands. */
  public long position() {
    return addresses[at] + used;
  }

  /** Bytes that are left of the data unit at {@link #index}. */
  public int room() {
    return lengths[at] - used;
  }

  public void use(int bytes) {
    used += bytes;
  }
}
