package org.hghca.abi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Access to WQE and CQE memory, which is little-endian throughout.
 *
 * <p>Plain access takes any segment. Acquire and release access needs natural alignment, which
 * rings fulfil: native memory, or a heap segment over an array of that width.
 */
final class LittleEndian {
  static final ValueLayout.OfInt INT = JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong LONG = JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** One call less deep than {@link MemorySegment#get}: the compiler inlines so many only. */
  private static final VarHandle INTS = INT.varHandle();

  private static final VarHandle LONGS = LONG.varHandle();

  private static final VarHandle ALIGNED_BYTE = JAVA_BYTE.varHandle();
  private static final VarHandle ALIGNED_INT =
      JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
  private static final VarHandle ALIGNED_LONG =
      JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  /** The halves of a unit of 16 bytes. */
  private static final VarHandle FIRST_HALF = partOf(16, 0, LONG);

  private static final VarHandle SECOND_HALF = partOf(16, 8, LONG);

  private LittleEndian() {}

  /**
   * A handle on a part of a structure, by the structure's offset in a segment. An access checks
   * that the whole structure lies in the segment: of several parts in a row the compiler makes that
   * check once.
   *
   * @param size of the structure in bytes
   * @param offset of the part in it
   */
  static VarHandle partOf(long size, long offset, ValueLayout part) {
    return MemoryLayout.structLayout(
            MemoryLayout.sequenceLayout(offset, JAVA_BYTE),
            part,
            MemoryLayout.sequenceLayout(size - offset - part.byteSize(), JAVA_BYTE))
        .varHandle(MemoryLayout.PathElement.groupElement(1));
  }

  static int getInt(MemorySegment segment, long offset) {
    return (int) INTS.get(segment, offset);
  }

  static void putInt(MemorySegment segment, long offset, int value) {
    INTS.set(segment, offset, value);
  }

  static long getLong(MemorySegment segment, long offset) {
    return (long) LONGS.get(segment, offset);
  }

  static void putLong(MemorySegment segment, long offset, long value) {
    LONGS.set(segment, offset, value);
  }

  /** One 8-byte store of two dwords, {@code low} at the lower address. */
  static void putInts(MemorySegment segment, long offset, int low, int high) {
    LONGS.set(segment, offset, join(low, high));
  }

  /** Two 8-byte stores of a unit of 16 bytes, the second half first. */
  static void putUnit(MemorySegment segment, long offset, long first, long second) {
    SECOND_HALF.set(segment, offset, second);
    FIRST_HALF.set(segment, offset, first);
  }

  static int getByteAcquire(MemorySegment segment, long offset) {
    return (byte) ALIGNED_BYTE.getAcquire(segment, offset) & 0xff;
  }

  static int getIntAcquire(MemorySegment segment, long offset) {
    return (int) ALIGNED_INT.getAcquire(segment, offset);
  }

  static void putLongRelease(MemorySegment segment, long offset, long value) {
    ALIGNED_LONG.setRelease(segment, offset, value);
  }

  static void putIntsRelease(MemorySegment segment, long offset, int low, int high) {
    putLongRelease(segment, offset, join(low, high));
  }

  static long join(int low, int high) {
    return (long) high << 32 | low & 0xffff_ffffL;
  }
}
