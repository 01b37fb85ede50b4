package org.hghca.abi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * One field of a big-endian mailbox body: a bit range of one dword, or of two dwords of which the
 * first holds bits 63:32.
 *
 * <p>Bits are numbered as the interface document numbers them: bit 31 (63) is the most significant
 * bit of the byte at {@link #offset()}.
 *
 * <ul>
 *   <li>A field of one dword holds its value <em>right-justified</em>: the field 08h[31:28] with
 *       the value 3 puts 30h into the byte at 08h.
 *   <li>A field of two dwords holds its value <em>in place</em>: qpc_base[63:8] is read and written
 *       as an address whose low 8 bits are zero.
 * </ul>
 *
 * <p>The accessors with a {@code base} read a body that begins at that byte of the segment, for
 * contexts that lie in a larger piece of memory. No access needs alignment. All of them throw
 * {@link IndexOutOfBoundsException} where the segment is too short.
 *
 * <p>Immutable and safe for use by several threads.
 *
 * @param name the interface document's name of the field
 * @param offset byte offset in the body, a multiple of 4
 * @param high highest bit, 0 to 31, or 32 to 63 for a field of two dwords
 * @param low lowest bit, 0 to {@code high}
 */
public record MailboxField(String name, int offset, int high, int low) {
  static final ValueLayout.OfInt DWORD =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong QWORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  /**
   * Checks the range.
   *
   * @throws IllegalArgumentException if the offset is negative or not a multiple of 4, or the bits
   *     are not a range within 63:0
   */
  public MailboxField {
    Objects.requireNonNull(name, "name");
    if (offset < 0 || offset % Integer.BYTES != 0) {
      throw new IllegalArgumentException(
          name + ": offset 0x" + Integer.toHexString(offset) + " is not a multiple of 4");
    }
    if (low < 0 || low > high || high >= Long.SIZE) {
      throw new IllegalArgumentException(name + ": [" + high + ":" + low + "] is no bit range");
    }
  }

  /** A bit range of the dword at {@code offset}. */
  public static MailboxField bits(String name, int offset, int high, int low) {
    if (high >= Integer.SIZE) {
      throw new IllegalArgumentException(name + ": bit " + high + " is outside a dword");
    }
    return new MailboxField(name, offset, high, low);
  }

  /** The whole dword at {@code offset}. */
  public static MailboxField dword(String name, int offset) {
    return new MailboxField(name, offset, 31, 0);
  }

  /** The two dwords at {@code offset}, the high one first. */
  public static MailboxField qword(String name, int offset) {
    return new MailboxField(name, offset, 63, 0);
  }

  /**
   * A bit range of the two dwords at {@code offset}, the high one first; values are in place.
   *
   * @throws IllegalArgumentException if {@code high} is below 32: that is a field of one dword
   */
  public static MailboxField qword(String name, int offset, int high, int low) {
    if (high < Integer.SIZE) {
      throw new IllegalArgumentException(name + ": bit " + high + " is within the low dword");
    }
    return new MailboxField(name, offset, high, low);
  }

  /** Whether the field lies in two dwords. */
  public boolean isWide() {
    return high >= Integer.SIZE;
  }

  /** Number of bits. */
  public int width() {
    return high - low + 1;
  }

  /** Bytes from the beginning of the body to the end of the field's last dword. */
  public int end() {
    return offset + (isWide() ? Long.BYTES : Integer.BYTES);
  }

  /** The bits of the field within its dword or its two dwords. */
  public long mask() {
    return (-1L >>> (Long.SIZE - width())) << low;
  }

  /**
   * Reads a field of one dword.
   *
   * @return the value; a field of 32 bits may come out negative
   * @throws IllegalStateException if the field lies in two dwords
   */
  public int get(MemorySegment mailbox) {
    return get(mailbox, 0);
  }

  /** As {@link #get(MemorySegment)}, of a body that begins at byte {@code base}. */
  public int get(MemorySegment mailbox, long base) {
    if (isWide()) {
      throw new IllegalStateException(this + " lies in two dwords: use getLong");
    }
    return (int) ((mailbox.get(DWORD, base + offset) & mask()) >>> low);
  }

  /** Reads a field of any width; one of a dword is zero-extended. */
  public long getLong(MemorySegment mailbox) {
    return getLong(mailbox, 0);
  }

  /** As {@link #getLong(MemorySegment)}, of a body that begins at byte {@code base}. */
  public long getLong(MemorySegment mailbox, long base) {
    return isWide()
        ? mailbox.get(QWORD, base + offset) & mask()
        : Integer.toUnsignedLong(get(mailbox, base));
  }

  /**
   * Writes a field of one dword, taking {@code value} as unsigned, and leaves the other bits of the
   * dword as they are.
   *
   * @throws IllegalArgumentException if the value has more bits than the field
   * @throws IllegalStateException if the field lies in two dwords
   */
  public void set(MemorySegment mailbox, int value) {
    set(mailbox, 0, value);
  }

  /** As {@link #set(MemorySegment, int)}, in a body that begins at byte {@code base}. */
  public void set(MemorySegment mailbox, long base, int value) {
    if (isWide()) {
      throw new IllegalStateException(this + " lies in two dwords: use setLong");
    }
    setLong(mailbox, base, Integer.toUnsignedLong(value));
  }

  /**
   * Writes a field of any width, taking {@code value} as unsigned, and leaves the other bits of its
   * dwords as they are.
   *
   * @throws IllegalArgumentException if the value does not fit: a field of one dword takes {@link
   *     #width()} bits, a field of two dwords only bits of its range
   */
  public void setLong(MemorySegment mailbox, long value) {
    setLong(mailbox, 0, value);
  }

  /** As {@link #setLong(MemorySegment, long)}, in a body that begins at byte {@code base}. */
  public void setLong(MemorySegment mailbox, long base, long value) {
    long mask = mask();
    if (isWide()) {
      if ((value & ~mask) != 0) {
        throw doesNotFit(value);
      }
      mailbox.set(QWORD, base + offset, (mailbox.get(QWORD, base + offset) & ~mask) | value);
    } else {
      if ((value & ~(mask >>> low)) != 0) {
        throw doesNotFit(value);
      }
      int others = mailbox.get(DWORD, base + offset) & (int) ~mask;
      mailbox.set(DWORD, base + offset, others | (int) (value << low));
    }
  }

  private IllegalArgumentException doesNotFit(long value) {
    return new IllegalArgumentException(
        this + " takes " + width() + " bits, not 0x" + Long.toHexString(value));
  }

  /** The field as the interface document writes it: {@code state 08h[31:28]}. */
  @Override
  public String toString() {
    return String.format("%s %02Xh[%d:%d]", name, offset, high, low);
  }
}
