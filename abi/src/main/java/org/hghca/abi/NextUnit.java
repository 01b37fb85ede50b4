package org.hghca.abi;

import java.lang.foreign.MemorySegment;

/**
 * The next unit: the first 16 bytes of every WQE. It tells the card where the next WQE is and
 * carries the flags and the immediate of its own WQE.
 *
 * <pre>
 *       31                                              8 7 6 5       0
 * 00h  |                  nda[31:6]                      |x|  nop[4:0] |   x = marker, bit 5
 * 04h  |                  nee[31:8]                      |D|F| nds[5:0]|
 * 08h  |   -   | opcode[21:14] | size[13:6] |     -      |C|E|S|m      |   bits 3, 2, 1, 0
 * 0Ch  |                       imm_data[31:0]                          |
 * </pre>
 *
 * <p>nda, nop, nds and F describe the <em>next</em> WQE, everything in dwords 2 and 3 this one. nda
 * is the byte offset of the next WQE in its ring divided by 16, not an address; nds = 0 ends the
 * chain. nds and size count units of 16 bytes.
 *
 * <p>The interface document leaves dw0 bit 5, dw2 bit 0, size and opcode blank. A device that
 * follows the document ignores them; they are always filled for others.
 *
 * <p>Composing functions drop bits that lie outside their field. All methods are thread-safe in
 * themselves; the ring decides which thread may write a slot.
 *
 * <p>The makers' RTL differs in this: the first ignores C, since every WQE gets a CQE. The second
 * does too, takes size and opcode of a WQE from dw2, reads F as that of the WQE itself, and
 * advances in a receive ring by the size, rounded up to the stride.
 *
 * <p>Source: interface document, tables 3-4-2 and 3-4-3.
 */
public final class NextUnit {
  /** Bytes of the unit. Table 3-4-2. */
  public static final int SIZE = 16;

  /** Byte offset of dw0: nda and nop. Table 3-4-2. */
  public static final int ADDRESS_OFFSET = 0x00;

  /** Byte offset of dw1: nee, D, F and nds. Table 3-4-2. */
  public static final int NEXT_SIZE_OFFSET = 0x04;

  /** Byte offset of dw2: flags, own size and own opcode. Table 3-4-2. */
  public static final int CONTROL_OFFSET = 0x08;

  /** Byte offset of dw3: the immediate. Table 3-4-2. */
  public static final int IMMEDIATE_OFFSET = 0x0c;

  /** nop, dw0[4:0]: opcode of the next WQE. Table 3-4-3. */
  public static final int NEXT_OPCODE_MASK = 0x1f;

  /** dw0[5], blank in the document: makes a receive WQE's next unit non-zero. */
  public static final int ADDRESS_MARKER = 1 << 5;

  /** nda, dw0[31:6]: lowest bit. Table 3-4-3. */
  public static final int NEXT_ADDRESS_SHIFT = 6;

  /** nds, dw1[5:0]: size of the next WQE in units of 16 bytes, 0 ends the chain. Table 3-4-3. */
  public static final int NEXT_SIZE_MASK = 0x3f;

  /** F, dw1[6]: fence of the next WQE. Table 3-4-3. */
  public static final int NEXT_FENCE = 1 << 6;

  /** D, dw1[7]: next DBD, not in use. Table 3-4-3. */
  public static final int NEXT_DBD = 1 << 7;

  /** nee, dw1[31:8]: lowest bit. Next EE context, not in use. Table 3-4-3. */
  public static final int NEXT_EE_SHIFT = 8;

  /** dw2[0], blank in the document: makes a WQE's next unit non-zero. */
  public static final int MARKER = 1;

  /** S, dw2[1]: the receiver raises a solicited event. Table 3-4-3. */
  public static final int SOLICITED = 1 << 1;

  /** E, dw2[2]: generate an event. Table 3-4-3. */
  public static final int EVENT = 1 << 2;

  /** C, dw2[3]: update the CQ. Table 3-4-3. */
  public static final int COMPLETION = 1 << 3;

  /** Own size, dw2[13:6]: lowest bit. Blank in the document. */
  public static final int SIZE_SHIFT = 6;

  /** Own size, dw2[13:6], in units of 16 bytes: largest value. */
  public static final int SIZE_MASK = 0xff;

  /** Own opcode, dw2[21:14]: lowest bit. Blank in the document. */
  public static final int OPCODE_SHIFT = 14;

  /** Own opcode, dw2[21:14]: largest value. */
  public static final int OPCODE_MASK = 0xff;

  private static final int FLAGS_MASK = MARKER | SOLICITED | EVENT | COMPLETION;
  private static final int FENCE_SHIFT = 6;

  private NextUnit() {}

  /**
   * dw0.
   *
   * @param headUnits16 byte offset of the next WQE in its ring divided by 16, 26 bits
   * @param nextOpcode opcode of the next WQE, 5 bits
   */
  public static int address(int headUnits16, int nextOpcode) {
    return headUnits16 << NEXT_ADDRESS_SHIFT | nextOpcode & NEXT_OPCODE_MASK;
  }

  /**
   * dw1, with D and nee zero.
   *
   * @param nextSize16 size of the next WQE in units of 16 bytes, 0..63; 0 ends the chain
   * @param fenceBit 1 when the next WQE is fenced, else 0
   */
  public static int size(int nextSize16, int fenceBit) {
    return nextSize16 & NEXT_SIZE_MASK | (fenceBit & 1) << FENCE_SHIFT;
  }

  /**
   * dw2.
   *
   * @param opcode opcode of this WQE, 8 bits
   * @param size16 size of this WQE in units of 16 bytes, 8 bits
   * @param flags any of {@link #SOLICITED}, {@link #EVENT}, {@link #COMPLETION}, {@link #MARKER}
   */
  public static int control(int opcode, int size16, int flags) {
    return (opcode & OPCODE_MASK) << OPCODE_SHIFT
        | (size16 & SIZE_MASK) << SIZE_SHIFT
        | flags & FLAGS_MASK;
  }

  /**
   * Writes the whole unit by two 8-byte stores, dw2/dw3 first. Plain stores: a doorbell that
   * follows must be a release.
   */
  public static void write(MemorySegment segment, long offset, int dw0, int dw1, int dw2, int dw3) {
    LittleEndian.putUnit(segment, offset, LittleEndian.join(dw0, dw1), LittleEndian.join(dw2, dw3));
  }

  /**
   * Chains another WQE after one that is already written: sets nda, nop, nds and F with one 8-byte
   * store and keeps all other bits. Only for a WQE that no doorbell covers yet.
   *
   * @param nextHeadUnits16 byte offset of the next WQE in its ring divided by 16, 26 bits
   * @param nextOpcode opcode of the next WQE, 5 bits
   * @param nextSize16 size of the next WQE in units of 16 bytes, 1..63
   * @param fence 1 when the next WQE is fenced, else 0
   */
  public static void link(
      MemorySegment segment,
      long offset,
      int nextHeadUnits16,
      int nextOpcode,
      int nextSize16,
      int fence) {
    long old = LittleEndian.getLong(segment, offset);
    int dw0 = (int) old & ADDRESS_MARKER | address(nextHeadUnits16, nextOpcode);
    int dw1 = (int) (old >>> 32) & ~(NEXT_SIZE_MASK | NEXT_FENCE) | size(nextSize16, fence);
    LittleEndian.putInts(segment, offset, dw0, dw1);
  }

  /**
   * As {@link #link} without a fence, for a WQE whose other bits of dw0 and dw1 are zero: one
   * store, and nothing is read.
   */
  public static void chain(
      MemorySegment segment, long offset, int nextHeadUnits16, int nextOpcode, int nextSize16) {
    int dw0 = address(nextHeadUnits16, nextOpcode);
    LittleEndian.putInts(segment, offset, dw0, size(nextSize16, 0));
  }

  /**
   * Publishes a receive WQE whose data units and terminator are in place. The card watches the
   * slot: it counts as posted from the first bit set in any of the four dwords. Both 8-byte stores
   * are therefore releases, dw2/dw3 first; nda and nds stay 0, because receive WQEs are never
   * linked. {@code offset} is a multiple of 8 in native memory.
   *
   * @param size16 size of this WQE in units of 16 bytes: next unit, data units and terminator
   */
  public static void writeReceive(MemorySegment segment, long offset, int size16) {
    // A reader that sees either half must see the data units and the terminator.
    LittleEndian.putIntsRelease(
        segment, offset + CONTROL_OFFSET, control(WqeOpcode.NOP, size16, MARKER), 0);
    LittleEndian.putIntsRelease(segment, offset, ADDRESS_MARKER, 0);
  }

  /** Zeroes the unit, so that the card regards the slot as not posted. */
  public static void clear(MemorySegment segment, long offset) {
    LittleEndian.putUnit(segment, offset, 0, 0);
  }

  /** Whether any bit of the unit is set: the card's test for a posted receive slot. */
  public static boolean isPosted(MemorySegment segment, long offset) {
    return LittleEndian.getLong(segment, offset) != 0
        || LittleEndian.getLong(segment, offset + CONTROL_OFFSET) != 0;
  }

  /**
   * dw0 and dw1 in one load, dw0 in the low half: for {@link #nextHeadUnits16(long)}, {@link
   * #nextOpcode(long)}, {@link #nextSize16(long)} and {@link #nextFence(long)}.
   */
  public static long next(MemorySegment segment, long offset) {
    return LittleEndian.getLong(segment, offset);
  }

  /** nda of {@link #next}. */
  public static int nextHeadUnits16(long next) {
    return (int) next >>> NEXT_ADDRESS_SHIFT;
  }

  /** nop of {@link #next}. */
  public static int nextOpcode(long next) {
    return (int) next & NEXT_OPCODE_MASK;
  }

  /** nds of {@link #next}. */
  public static int nextSize16(long next) {
    return (int) (next >>> 32) & NEXT_SIZE_MASK;
  }

  /** F of {@link #next}: 0 or 1. */
  public static int nextFence(long next) {
    return (int) (next >>> 32 + FENCE_SHIFT) & 1;
  }

  /**
   * dw2 and dw3 in one load, dw2 in the low half: for {@link #flags(long)}, {@link #opcode(long)}
   * and {@link #immediate(long)}.
   */
  public static long own(MemorySegment segment, long offset) {
    return LittleEndian.getLong(segment, offset + CONTROL_OFFSET);
  }

  /** S, E, C and the marker of {@link #own}, in place. */
  public static int flags(long own) {
    return (int) own & FLAGS_MASK;
  }

  /** Own opcode of {@link #own}. */
  public static int opcode(long own) {
    return (int) own >>> OPCODE_SHIFT & OPCODE_MASK;
  }

  /** imm_data of {@link #own}. */
  public static int immediate(long own) {
    return (int) (own >>> 32);
  }

  /** nda, dw0[31:6]: byte offset of the next WQE divided by 16. */
  public static int nextHeadUnits16(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset) >>> NEXT_ADDRESS_SHIFT;
  }

  /** nop, dw0[4:0]. */
  public static int nextOpcode(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset) & NEXT_OPCODE_MASK;
  }

  /** nds, dw1[5:0]: units of 16 bytes, 0 at the end of a chain. */
  public static int nextSize16(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + NEXT_SIZE_OFFSET) & NEXT_SIZE_MASK;
  }

  /** F, dw1[6]: 0 or 1. */
  public static int nextFence(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + NEXT_SIZE_OFFSET) >>> FENCE_SHIFT & 1;
  }

  /** D, dw1[7]: 0 or 1. */
  public static int nextDbd(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + NEXT_SIZE_OFFSET) >>> 7 & 1;
  }

  /** nee, dw1[31:8]. */
  public static int nextEe(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + NEXT_SIZE_OFFSET) >>> NEXT_EE_SHIFT;
  }

  /** S, E, C and the marker of this WQE, in place in dw2[3:0]. */
  public static int flags(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + CONTROL_OFFSET) & FLAGS_MASK;
  }

  /** Own size, dw2[13:6]: units of 16 bytes. */
  public static int size16(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + CONTROL_OFFSET) >>> SIZE_SHIFT & SIZE_MASK;
  }

  /** Own opcode, dw2[21:14]. */
  public static int opcode(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + CONTROL_OFFSET) >>> OPCODE_SHIFT & OPCODE_MASK;
  }

  /** imm_data, dw3. */
  public static int immediate(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + IMMEDIATE_OFFSET);
  }
}
