package org.hghca.abi;

import java.lang.foreign.MemorySegment;

/**
 * The inline unit: message bytes inside the WQE. A WQE holds one inline unit or data units, never
 * both.
 *
 * <pre>
 *       31 30                            0
 * 00h  |1|          length[30:0]          |
 * 04h  |      data, length bytes as they  |
 *      |      stand, then up to the next  |
 *      |      multiple of 16 unused       |
 * </pre>
 *
 * <p>Source: interface document, tables 3-4-10 and 3-4-11.
 */
public final class InlineUnit {
  /** Bytes before the data. Table 3-4-10. */
  public static final int HEADER_SIZE = 4;

  /** Bit 31 of the first dword: set in an inline unit, clear in a data unit. Table 3-4-10. */
  public static final int INLINE = 0x8000_0000;

  /** length, first dword [30:0]: largest value. Table 3-4-11. */
  public static final int LENGTH_MASK = 0x7fff_ffff;

  private InlineUnit() {}

  /** Size in units of 16 bytes of an inline unit with {@code length} data bytes. */
  public static int units(int length) {
    return (HEADER_SIZE + length + 15) >>> 4;
  }

  /** Writes the header. The data go to {@code offset + HEADER_SIZE}; padding may hold anything. */
  public static void writeHeader(MemorySegment segment, long offset, int length) {
    LittleEndian.putInt(segment, offset, INLINE | length);
  }

  /** length of a header, in bytes. */
  public static int length(int header) {
    return header & LENGTH_MASK;
  }

  /** length, in bytes. */
  public static int length(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset) & LENGTH_MASK;
  }
}
