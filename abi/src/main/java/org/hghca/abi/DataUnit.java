package org.hghca.abi;

import java.lang.foreign.MemorySegment;

/**
 * The data unit: one scatter/gather element.
 *
 * <pre>
 *       31 30                            0
 * 00h  |0|         byte_cnt[30:0]         |
 * 04h  |           lkey[31:0]             |
 * 08h  |           addr[31:0]             |
 * 0Ch  |           addr[63:32]            |
 * </pre>
 *
 * <p>In a receive WQE an all-zero data unit ends the list: the card reads the units after the next
 * unit until it finds 16 zero bytes, so these must lie inside the slot.
 *
 * <p>Source: interface document, tables 3-4-12 and 3-4-13.
 */
public final class DataUnit {
  /** Bytes of the unit. Table 3-4-12. */
  public static final int SIZE = 16;

  /** Byte offset of byte_cnt. Table 3-4-13. */
  public static final int BYTE_COUNT_OFFSET = 0x00;

  /** Byte offset of lkey, 32 bits. Table 3-4-13. */
  public static final int LKEY_OFFSET = 0x04;

  /** Byte offset of addr, 64 bits. Table 3-4-13. */
  public static final int ADDRESS_OFFSET = 0x08;

  /** byte_cnt, first dword [30:0]: largest value. Table 3-4-13. */
  public static final int BYTE_COUNT_MASK = 0x7fff_ffff;

  private DataUnit() {}

  /**
   * Writes the unit by two 8-byte stores.
   *
   * @param byteCount length in bytes, 31 bits
   * @param lkey key of the local memory region
   * @param address virtual address of the first byte
   */
  public static void write(
      MemorySegment segment, long offset, int byteCount, int lkey, long address) {
    long lengthAndKey = LittleEndian.join(byteCount & BYTE_COUNT_MASK, lkey);
    LittleEndian.putUnit(segment, offset, lengthAndKey, address);
  }

  /**
   * Writes the unit by two 8-byte stores.
   *
   * @param lengthAndKey length in bytes, 31 bits, in the low half; key of the memory region in the
   *     high half
   * @param address virtual address of the first byte
   */
  public static void write(MemorySegment segment, long offset, long lengthAndKey, long address) {
    LittleEndian.putUnit(segment, offset, lengthAndKey, address);
  }

  /** Writes the all-zero unit that ends the list of a receive WQE. */
  public static void writeTerminator(MemorySegment segment, long offset) {
    LittleEndian.putUnit(segment, offset, 0, 0);
  }

  /** Whether all 16 bytes are zero. A byte_cnt of 0 alone does not end a list. */
  public static boolean isTerminator(MemorySegment segment, long offset) {
    return (LittleEndian.getLong(segment, offset)
            | LittleEndian.getLong(segment, offset + ADDRESS_OFFSET))
        == 0;
  }

  /** byte_cnt and lkey in one load: for {@link #byteCount(long)} and {@link #lkey(long)}. */
  public static long lengthAndKey(MemorySegment segment, long offset) {
    return LittleEndian.getLong(segment, offset);
  }

  /** byte_cnt of {@link #lengthAndKey}, whose low half is what {@link #isInline} tests. */
  public static int byteCount(long lengthAndKey) {
    return (int) lengthAndKey & BYTE_COUNT_MASK;
  }

  /** lkey of {@link #lengthAndKey}. */
  public static int lkey(long lengthAndKey) {
    return (int) (lengthAndKey >>> 32);
  }

  /** Whether all 16 bytes are zero: {@link #lengthAndKey} and {@link #address}. */
  public static boolean isTerminator(long lengthAndKey, long address) {
    return (lengthAndKey | address) == 0;
  }

  /** First dword: what {@link #isInline} tests and {@link #byteCount} masks. */
  public static int firstDword(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset);
  }

  /** Whether the unit that begins with this dword is an {@link InlineUnit}. */
  public static boolean isInline(int firstDword) {
    return firstDword < 0;
  }

  /** byte_cnt, in bytes. */
  public static int byteCount(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset) & BYTE_COUNT_MASK;
  }

  /** lkey. */
  public static int lkey(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + LKEY_OFFSET);
  }

  /** addr: a local virtual address. */
  public static long address(MemorySegment segment, long offset) {
    return LittleEndian.getLong(segment, offset + ADDRESS_OFFSET);
  }
}
