package org.hghca.abi;

import java.lang.foreign.MemorySegment;

/**
 * The atomic unit: the operands of compare-and-swap and fetch-and-add.
 *
 * <pre>
 *       31                               0
 * 00h  |          swap_add[31:0]          |
 * 04h  |          swap_add[63:32]         |
 * 08h  |            cmp[31:0]             |
 * 0Ch  |            cmp[63:32]            |
 * </pre>
 *
 * <p>The RTL stops its send side at an atomic WQE; see {@link HardwareProfile#atomics()}.
 *
 * <p>Source: interface document, tables 3-4-6 and 3-4-7.
 */
public final class AtomicUnit {
  /** Bytes of the unit. Table 3-4-6. */
  public static final int SIZE = 16;

  /** Byte offset of swap_add, 64 bits. Table 3-4-7. */
  public static final int SWAP_ADD_OFFSET = 0x00;

  /** Byte offset of cmp, 64 bits. Table 3-4-7. */
  public static final int COMPARE_OFFSET = 0x08;

  private AtomicUnit() {}

  /**
   * Writes the unit by two 8-byte stores.
   *
   * @param swapAdd value to swap in, or to add
   * @param compare value to compare with; fetch-and-add does not use it
   */
  public static void write(MemorySegment segment, long offset, long swapAdd, long compare) {
    LittleEndian.putLong(segment, offset + SWAP_ADD_OFFSET, swapAdd);
    LittleEndian.putLong(segment, offset + COMPARE_OFFSET, compare);
  }

  /** swap_add. */
  public static long swapAdd(MemorySegment segment, long offset) {
    return LittleEndian.getLong(segment, offset + SWAP_ADD_OFFSET);
  }

  /** cmp. */
  public static long compare(MemorySegment segment, long offset) {
    return LittleEndian.getLong(segment, offset + COMPARE_OFFSET);
  }
}
