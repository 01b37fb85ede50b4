package org.hghca.model.transport;

import java.lang.foreign.MemorySegment;
import org.hghca.wire.MemoryPieces;

/** The local buffers of a work request: up to a fixed number of pieces of registered memory. */
public final class ScatterList {
  /** Address, then key and length of the first piece: most lists have no other. */
  private long firstAddress;

  private long first;

  /** The same of the others, in pairs. */
  private final long[] others;

  private int count;
  private long total;

  /**
   * @param capacity the maximum number of pieces
   */
  public ScatterList(int capacity) {
    others = new long[2 * capacity - 2];
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
    long keyAndLength = (long) key << 32 | length;
    if (count == 0) {
      firstAddress = address;
      first = keyAndLength;
    } else if (count <= others.length / 2) {
      others[2 * count - 2] = address;
      others[2 * count - 1] = keyAndLength;
    } else {
      return false;
    }
    count++;
    total += length;
    return true;
  }

  /** All bytes of all pieces. */
  public long total() {
    return total;
  }

  private long address(int i) {
    return i == 0 ? firstAddress : others[2 * i - 2];
  }

  private int key(int i) {
    return (int) ((i == 0 ? first : others[2 * i - 1]) >>> 32);
  }

  private int length(int i) {
    return (int) (i == 0 ? first : others[2 * i - 1]);
  }

  /** Checks every piece as a whole. */
  MemoryStatus check(KeyedMemory memory, int pd, MemoryAccess access) {
    if (count == 1) { // nearly always, and without the set-up of a loop
      return memory.check(key(0), pd, address(0), length(0), access);
    }
    MemoryStatus status = MemoryStatus.OK;
    for (int i = 0; status == MemoryStatus.OK && i < count; i++) {
      status = memory.check(key(i), pd, address(i), length(i), access);
    }
    return status;
  }

  /** Reads {@code length} bytes from {@code offset} on, which must exist. */
  MemoryStatus gather(KeyedMemory memory, int pd, long offset, MemorySegment target, int length) {
    return move(memory, pd, offset, target, length, false);
  }

  /** Writes {@code length} bytes from {@code offset} on, at least one, which must exist. */
  MemoryStatus scatter(KeyedMemory memory, int pd, long offset, MemorySegment source, int length) {
    if (offset + length <= length(0)) { // nearly always, and not deep: the compiler inlines it
      return memory.write(
          key(0), pd, address(0) + offset, MemoryAccess.LOCAL_WRITE, source, 0, length);
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
      if (skip >= length(i)) {
        skip -= length(i);
        continue;
      }
      int piece = (int) Math.min(length(i) - skip, length - done);
      if (!memory.locate(key(i), pd, address(i) + skip, access, piece, into)) {
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
      if (skip >= length(i)) {
        skip -= length(i);
        continue;
      }
      int piece = (int) Math.min(length(i) - skip, length - done);
      MemoryStatus status =
          in
              ? memory.write(
                  key(i), pd, address(i) + skip, MemoryAccess.LOCAL_WRITE, packet, done, piece)
              : memory.read(
                  key(i), pd, address(i) + skip, MemoryAccess.LOCAL_READ, packet, done, piece);
      if (status != MemoryStatus.OK) {
        return status;
      }
      done += piece;
      skip = 0;
    }
    return MemoryStatus.OK;
  }
}
