package org.hghca.programs.rdmacm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The message with which an rping names memory to its peer: 16 bytes, big-endian.
 *
 * @param address where it begins
 * @param rkey its remote key
 * @param size its bytes
 */
record Advertisement(long address, int rkey, int size) {
  static final int BYTES = 16;

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  static Advertisement readFrom(MemorySegment memory) {
    return new Advertisement(memory.get(LONG, 0), memory.get(INT, 8), memory.get(INT, 12));
  }

  void writeTo(MemorySegment memory) {
    memory.set(LONG, 0, address);
    memory.set(INT, 8, rkey);
    memory.set(INT, 12, size);
  }
}
