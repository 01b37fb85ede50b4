package org.hghca.wire.capture;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;

/**
 * Blocks on their way to a file: one thread puts them in and never waits, another one takes them
 * out. A block is written in one piece: where it reaches over the end of the ring, there is memory
 * behind, and that part is copied to the beginning.
 */
final class CaptureRing {
  private final int capacity;
  private final int largest;
  private final MemorySegment memory;
  private final ByteBuffer bytes;

  /** Bytes that were taken out and put in since the beginning. */
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

  /** Where blocks are written. */
  MemorySegment memory() {
    return memory;
  }

  /** Where the next block is to be written, or -1 when there may be no room for it. */
  int reserve() {
    return tail - head > capacity - largest ? -1 : (int) tail & capacity - 1;
  }

  /**
   * Puts in the block at the place that was reserved.
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

  /** Takes out everything that was put in before the call. */
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
