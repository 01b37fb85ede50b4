package org.hghca.jgroups;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The header of each SEND. What JGroups sends at a time, a bundle, is one frame, or several if it
 * is longer than the peer's buffers.
 *
 * <pre>
 *  0        1        2                 4                                  8
 *  +--------+--------+-----------------+----------------------------------+----------
 *  |  kind  |   0    |     credits     |   bytes of the bundle that are   | payload
 *  |        |        |                 |   left, with those of this frame |
 *  +--------+--------+-----------------+----------------------------------+----------
 * </pre>
 *
 * Big-endian. Credits are the receives that the sender has posted again since its last frame.
 */
final class Frame {
  /** In bytes. */
  static final int HEADER = 8;

  /** Credits alone. */
  static final int CREDITS = 0;

  /** The beginning of a bundle, or all of it; one that was not complete before is dropped. */
  static final int FIRST = 1;

  /** What follows. */
  static final int NEXT = 2;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private static final int KIND_SHIFT = 24;
  private static final int MASK = 0xffff;

  private Frame() {}

  static void write(MemorySegment memory, long at, int kind, int credits, int left) {
    memory.set(INT, at, kind << KIND_SHIFT | credits);
    memory.set(INT, at + Integer.BYTES, left);
  }

  static int kind(MemorySegment memory, long at) {
    return memory.get(INT, at) >>> KIND_SHIFT;
  }

  static int credits(MemorySegment memory, long at) {
    return memory.get(INT, at) & MASK;
  }

  static int left(MemorySegment memory, long at) {
    return memory.get(INT, at + Integer.BYTES);
  }
}
