package org.hghca.model.transport;

import java.lang.foreign.MemorySegment;
import org.hghca.wire.MemoryPieces;

/** The local buffers of a work request: up to a fixed number of pieces of registered memory. */
public final class ScatterList {
  private final long[] addresses;
  private final int[] keys;
  private final int[] lengths;
  private int count;
  private long total;

  /**
   * @param capacity the maximum number of pieces
   */
  public ScatterList(int capacity) {
    addresses = new long[capacity];
    keys = new int[capacity];
    lengths = new int[capacity];
  }

  public void clear() {
    count = 0;
    total = 0;
  }

  /**
   * Adds a piece; one of no bytes is left out.
   *
   * @return whether there was room
   */
  public boolean add(long address, int key, int length) {
    if (length == 0) {
      return true;
    }
    if (count == keys.length) {
      return false;
    }
    addresses[count] = address;
    keys[count] = key;
    lengths[count++] = length;
    total += length;
    return true;
  }

  /** All bytes of all pieces. */
  public long total() {
    return total;
  }

  /** Checks every piece as a whole. */
  MemoryStatus check(KeyedMemory memory, int pd, MemoryAccess access) {
    for (int i = 0; i < count; i++) {
      MemoryStatus status = memory.check(keys[i], pd, addresses[i], lengths[i], access);
      if (status != MemoryStatus.OK) {
        return status;
      }
    }
    return MemoryStatus.OK;
  }

  /** Reads {@code length} bytes from {@code offset} on, which must exist. */
  MemoryStatus gather(KeyedMemory memory, int pd, long offset, MemorySegment target, int length) {
    return move(memory, pd, offset, target, length, false);
  }

  /** Writes {@code length} bytes from {@code offset} on, at least one, which must exist. */
  MemoryStatus scatter(KeyedMemory memory, int pd, long offset, MemorySegment source, int length) {
    if (offset + length <= lengths[0]) { // nearly always, and not deep: the compiler inlines it
      return memory.write(
          keys[0], pd, addresses[0] + offset, MemoryAccess.LOCAL_WRITE, source, 0, length);
    }
    return move(memory, pd, offset, source, length, true);
  }

  /**
   * Finds {@code length} bytes from {@code offset} on, which must exist, in this process's memory;
   * see {@link KeyedMemory#locate}.
   */
  boolean locate(
      KeyedMemory memory, int pd, long offset, MemoryAccess access, int length, MemoryPieces into) {
    long skip = offset;
    int done = 0;
    for (int i = 0; done < length; i++) {
      if (skip >= lengths[i]) {
        skip -= lengths[i];
        continue;
      }
      int piece = (int) Math.min(lengths[i] - skip, length - done);
      if (!memory.locate(keys[i], pd, addresses[i] + skip, access, piece, into)) {
        return false;
      }
      done += piece;
      skip = 0;
    }
    return true;
  }

  private MemoryStatus move(
      KeyedMemory memory, int pd, long offset, MemorySegment packet, int length, boolean in) {
    long skip = offset;
    int done = 0;
    for (int i = 0; done < length; i++) {
      if (skip >= lengths[i]) {
        skip -= lengths[i];
        continue;
      }
      int piece = (int) Math.min(lengths[i] - skip, length - done);
      MemoryStatus status =
          in
              ? memory.write(
                  keys[i], pd, addresses[i] + skip, MemoryAccess.LOCAL_WRITE, packet, done, piece)
              : memory.read(
                  keys[i], pd, addresses[i] + skip, MemoryAccess.LOCAL_READ, packet, done, piece);
      if (status != MemoryStatus.OK) {
        return status;
      }
      done += piece;
      skip = 0;
    }
    return MemoryStatus.OK;
  }
}
