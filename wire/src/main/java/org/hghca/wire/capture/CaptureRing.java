package org.hghca.wire.capture;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;

/**
 * Blocks on their way to a file: one thread adds them and never waits, another one removes them. A
 * block is contiguous: where it crosses the end of the ring, extra memory follows, and that part is
 * copied to the start.
 */
final class CaptureRing {
  private final int capacity;
  private final int largest;
  private final MemorySegment memory;
  private final ByteBuffer bytes;

  /** Bytes that were removed and added since the start. */
  private volatile long head;

  private volatile long tail;

  /**
   * @param capacity in bytes, a power of 2
   * @param largest bytes of the largest block, less than the capacity
   */
  CaptureRing(int capacity, int largest) {
    this.capacity = capacity;
    this.largest = largest;
    this.memory = Arena.ofAuto().allocate((long) capacity + largest, 64);
    this.bytes = memory.asByteBuffer();
  }

  /** The memory into which blocks are written. */
  MemorySegment memory() {
    return memory;
  }

  /** The offset of the next block, or -1 when there may be no room for it. */
  int reserve() {
    return tail - head > capacity - largest ? -1 : (int) tail & capacity - 1;
  }

  /**
   * Adds the block at the reserved offset.
   *
   * @return the bytes that wait in the ring
   */
  long commit(int length) {
    long before = tail;
    int over = ((int) before & capacity - 1) + length - capacity;
    if (over > 0) {
      MemorySegment.copy(memory, capacity, memory, 0, over);
    }
    long after = before + length;
    tail = after;
    return after - head;
  }

  /** Removes everything that was added before the call. */
  void drainTo(WritableByteChannel channel) throws IOException {
    long end = tail;
    long at = head;
    while (at < end) {
      int from = (int) at & capacity - 1;
      int to = (int) Math.min(from + (end - at), capacity);
      bytes.limit(to).position(from);
      at += channel.write(bytes);
      head = at;
    }
  }
}
