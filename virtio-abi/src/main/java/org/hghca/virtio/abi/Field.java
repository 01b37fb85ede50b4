package org.hghca.virtio.abi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * One unsigned little-endian number of a structure.
 *
 * <p>Accesses take the byte at which the structure begins; they need no alignment, and throw {@link
 * IndexOutOfBoundsException} where the segment is too short. They are plain accesses of memory: a
 * register is accessed by {@link #offset()} and {@link #width()}.
 *
 * <p>Immutable and safe for use by several threads.
 *
 * @param name the specification's name of the field
 * @param offset bytes from the beginning of the structure, a multiple of the width
 * @param width 1, 2, 4 or 8 bytes
 */
public record Field(String name, int offset, int width) {
  private static final ValueLayout.OfShort SHORT =
      JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /**
   * Checks the place.
   *
   * @throws IllegalArgumentException if the width is none of the four, or the offset is negative or
   *     not a multiple of the width
   */
  public Field {
    Objects.requireNonNull(name, "name");
    if (width != 1 && width != 2 && width != 4 && width != 8) {
      throw new IllegalArgumentException(name + ": a field has no " + width + " bytes");
    }
    if (offset < 0 || offset % width != 0) {
      throw new IllegalArgumentException(
          name + ": offset " + offset + " is not a multiple of " + width);
    }
  }

  /** A field of one byte. */
  public static Field u8(String name, int offset) {
    return new Field(name, offset, 1);
  }

  /** A field of two bytes. */
  public static Field le16(String name, int offset) {
    return new Field(name, offset, 2);
  }

  /** A field of four bytes. */
  public static Field le32(String name, int offset) {
    return new Field(name, offset, 4);
  }

  /** A field of eight bytes. */
  public static Field le64(String name, int offset) {
    return new Field(name, offset, 8);
  }

  /** Bytes from the beginning of the structure to the end of the field. */
  public int end() {
    return offset + width;
  }

  /**
   * Reads a field of at most four bytes; one of four bytes may come out negative.
   *
   * @throws IllegalStateException if the field has eight bytes
   */
  public int get(MemorySegment segment, long base) {
    return switch (width) {
      case 1 -> segment.get(JAVA_BYTE, base + offset) & 0xff;
      case 2 -> segment.get(SHORT, base + offset) & 0xffff;
      case 4 -> segment.get(INT, base + offset);
      default -> throw new IllegalStateException(this + " needs getLong");
    };
  }

  /** Reads a field of any width, zero-extended. */
  public long getLong(MemorySegment segment, long base) {
    return width == 8
        ? segment.get(LONG, base + offset)
        : Integer.toUnsignedLong(get(segment, base));
  }

  /**
   * Writes a field of at most four bytes.
   *
   * @throws IllegalArgumentException if the value, taken as unsigned, has more bits than the field
   * @throws IllegalStateException if the field has eight bytes
   */
  public void set(MemorySegment segment, long base, int value) {
    switch (width) {
      case 1 -> segment.set(JAVA_BYTE, base + offset, (byte) fitting(value));
      case 2 -> segment.set(SHORT, base + offset, (short) fitting(value));
      case 4 -> segment.set(INT, base + offset, value);
      default -> throw new IllegalStateException(this + " needs setLong");
    }
  }

  /**
   * Writes a field of any width.
   *
   * @throws IllegalArgumentException if the value, taken as unsigned, has more bits than the field
   */
  public void setLong(MemorySegment segment, long base, long value) {
    if (width == 8) {
      segment.set(LONG, base + offset, value);
    } else {
      if (value >>> 32 != 0) {
        throw doesNotFit(value);
      }
      set(segment, base, (int) value);
    }
  }

  private int fitting(int value) {
    if (value >>> 8 * width != 0) {
      throw doesNotFit(Integer.toUnsignedLong(value));
    }
    return value;
  }

  private IllegalArgumentException doesNotFit(long value) {
    return new IllegalArgumentException(
        this + " takes " + 8 * width + " bits, not 0x" + Long.toHexString(value));
  }

  /** Name, offset and width: {@code max_cqe@44:4}. */
  @Override
  public String toString() {
    return name + "@" + offset + ":" + width;
  }
}
