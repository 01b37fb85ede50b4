package org.hghca.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Copies into memory that others poll: who sees the last byte (an owner byte, a flag after a
 * payload) sees all bytes, and who polls a number at the end of them (an index, a counter) never
 * finds half of it.
 */
public final class OrderedCopy {
  private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
  private static final VarHandle SHORT = ValueLayout.JAVA_SHORT.varHandle();
  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private OrderedCopy() {}

  /** Copies at least one byte. */
  public static void copy(
      MemorySegment source, long offset, MemorySegment memory, long at, long length) {
    int width = lastWidth(memory, at + length, length);
    long last = length - width;
    if (last > 0) {
      MemorySegment.copy(source, offset, memory, at, last);
    }
    storeLast(source, offset + last, memory, at + last, width);
  }

  /**
   * How many of the last bytes are stored at once: 8, 4, 2 or 1, as the alignment of their end
   * allows.
   *
   * @param end offset after the last of them
   * @param length of them all
   */
  public static int lastWidth(MemorySegment memory, long end, long length) {
    if (!memory.isNative()) {
      return 1;
    }
    long bits = memory.address() + end | Long.BYTES;
    return (int) Math.min(Long.highestOneBit(length), Long.lowestOneBit(bits));
  }

  /**
   * Stores the last bytes, after all others.
   *
   * @param width as {@link #lastWidth} has said
   */
  public static void storeLast(
      MemorySegment source, long from, MemorySegment memory, long to, int width) {
    switch (width) {
      case 8 -> LONG.setRelease(memory, to, source.get(ValueLayout.JAVA_LONG_UNALIGNED, from));
      case 4 -> INT.setRelease(memory, to, source.get(ValueLayout.JAVA_INT_UNALIGNED, from));
      case 2 -> SHORT.setRelease(memory, to, source.get(ValueLayout.JAVA_SHORT_UNALIGNED, from));
      default -> BYTE.setRelease(memory, to, source.get(ValueLayout.JAVA_BYTE, from));
    }
  }
}
