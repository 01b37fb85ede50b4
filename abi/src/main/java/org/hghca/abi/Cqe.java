package org.hghca.abi;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * A completion queue entry.
 *
 * <pre>
 *       31        24 23        16 15         8 7          0
 * 00h  |                      my_qpn                       |
 * 04h  |                      my_ee                        |  not in use
 * 08h  |                      rqpn                         |
 * 0Ch  |         rlid            |  g_mlpath   |  sl_ipok   |
 * 10h  |                 imm_etype_pkey_eec                |  success
 * 10h  |         db_cnt          |  vendor_err |  syndrome  |  error
 * 14h  |                     byte_cnt                      |
 * 18h  |                       wqe                         |
 * 1Ch  |   owner    |      -     |   is_send   |  opcode    |
 * </pre>
 *
 * <p>Opcode FFh ({@link WqeOpcode#INVALID}) marks an error. In an error entry the document leaves
 * is_send blank; EXTENSION: the software HCA writes 1 for sends and 0 for receives.
 *
 * <p>Software owns an entry at owner 00h, the card at 80h, and devices differ in which of the two
 * they write. A ring is therefore filled with a {@link #SENTINEL} that no device writes, before its
 * CQ exists and again after each entry is consumed.
 *
 * <p>The makers' RTL differs in this: the first writes owner 00h, the second 80h. It never delivers
 * imm, and rqpn of an RC send is the CQ's lkey on the first. An error has is_send 0; on RC it has
 * no syndrome, on UC and UD the WQE's opcode stays and the syndrome is in byte 13h, so that the
 * last dword is that of a receive's success, and so is that of an entry of zeros.
 *
 * <p>Source: interface document, tables 3-3-1, both 3-3-2, and 3-3-4.
 */
public final class Cqe {
  /** Bytes of an entry. Table 3-3-1. */
  public static final int SIZE = 32;

  /** Byte offset of my_qpn, 32 bits. Table 3-3-2. */
  public static final int QPN_OFFSET = 0x00;

  /** Byte offset of my_ee, 32 bits: EE context, not in use. Table 3-3-2. */
  public static final int EE_OFFSET = 0x04;

  /** Byte offset of rqpn, 32 bits. Table 3-3-2. */
  public static final int REMOTE_QPN_OFFSET = 0x08;

  /** Byte offset of the dword with rlid, g_mlpath and sl_ipok. Table 3-3-2. */
  public static final int REMOTE_LID_OFFSET = 0x0c;

  /** sl_ipok, [7:0] of dword 0Ch: service level and IP checksum, not in use. Table 3-3-2. */
  public static final int SL_IPOK_MASK = 0xff;

  /** g_mlpath, [15:8] of dword 0Ch: lowest bit. Not in use. Table 3-3-2. */
  public static final int PATH_SHIFT = 8;

  /** g_mlpath, bit 7: a global route header was used. Table 3-3-2. */
  public static final int PATH_GRH = 1 << 7;

  /** g_mlpath, [6:0]: local mask control. Table 3-3-2. */
  public static final int PATH_LMC_MASK = 0x7f;

  /** rlid, [31:16] of dword 0Ch: lowest bit. Table 3-3-2. */
  public static final int REMOTE_LID_SHIFT = 16;

  /** Byte offset of imm, 32 bits, in a success. Table 3-3-2. */
  public static final int IMMEDIATE_OFFSET = 0x10;

  /** Byte offset of the syndrome, 10h[7:0], in an error. Table 3-3-4. */
  public static final int SYNDROME_OFFSET = 0x10;

  /** Byte offset of vendor_err, 10h[15:8], in an error; "not in use". Table 3-3-4. */
  public static final int VENDOR_ERROR_OFFSET = 0x11;

  /** db_cnt, [31:16] of dword 10h in an error: lowest bit. Not in use. Table 3-3-4. */
  public static final int DOORBELL_COUNT_SHIFT = 16;

  /** Byte offset where the first RTL puts the syndrome of a UC or UD error: 10h[31:24]. */
  public static final int TOP_SYNDROME_OFFSET = 0x13;

  /** Byte offset of byte_cnt, 32 bits. Table 3-3-2. */
  public static final int BYTE_COUNT_OFFSET = 0x14;

  /** Byte offset of wqe, 32 bits: byte offset of the WQE in its queue. Table 3-3-2. */
  public static final int WQE_OFFSET_OFFSET = 0x18;

  /** Byte offset of the last dword: owner, is_send and opcode. Table 3-3-1. */
  public static final int LAST_DWORD_OFFSET = 0x1c;

  /** Byte offset of the owner, 1Ch[31:24]. Table 3-3-1. */
  public static final int OWNER_OFFSET = 0x1f;

  /** is_send, 1Ch[15:8]: lowest bit. Table 3-3-2. */
  public static final int IS_SEND_SHIFT = 8;

  /** owner, 1Ch[31:24]: lowest bit. Table 3-3-2. */
  public static final int OWNER_SHIFT = 24;

  /** opcode, 1Ch[7:0]: largest value. Table 3-3-2. */
  public static final int OPCODE_MASK = 0xff;

  /** Owner byte: software owns the entry. Table 3-3-2. */
  public static final int OWNER_SOFTWARE = 0x00;

  /** Owner byte: the card owns the entry. Table 3-3-2. */
  public static final int OWNER_HARDWARE = 0x80;

  /** Owner byte of an entry that no device has written yet; defined by this project. */
  public static final int SENTINEL = 0xff;

  private static final int FREE_DWORD = 0xffff_ffff;

  /** All of a last dword except the opcode and the bit in which owners differ. */
  private static final int SEND_MASK = ~(OWNER_HARDWARE << OWNER_SHIFT | OPCODE_MASK);

  private static final VarHandle QPN = LittleEndian.partOf(SIZE, QPN_OFFSET, LittleEndian.INT);
  private static final VarHandle REMOTE_QPN =
      LittleEndian.partOf(SIZE, REMOTE_QPN_OFFSET, LittleEndian.INT);
  private static final VarHandle IMMEDIATE =
      LittleEndian.partOf(SIZE, IMMEDIATE_OFFSET, LittleEndian.INT);
  private static final VarHandle BYTE_COUNT =
      LittleEndian.partOf(SIZE, BYTE_COUNT_OFFSET, LittleEndian.INT);
  private static final VarHandle WQE_OFFSET =
      LittleEndian.partOf(SIZE, WQE_OFFSET_OFFSET, LittleEndian.INT);
  private static final VarHandle LAST_DWORD =
      LittleEndian.partOf(SIZE, LAST_DWORD_OFFSET, LittleEndian.INT);

  private Cqe() {}

  /**
   * The owner byte, read with acquire: when it is not the {@link #SENTINEL}, the rest of the entry
   * may be read.
   */
  public static int owner(MemorySegment segment, long offset) {
    return LittleEndian.getByteAcquire(segment, offset + OWNER_OFFSET);
  }

  /**
   * The last dword, read with acquire: owner, is_send and opcode in one load, for {@link
   * #owner(int)}, {@link #isSend(int)} and {@link #opcode(int)}. {@code offset} is a multiple of 4
   * in native memory.
   */
  public static int lastDword(MemorySegment segment, long offset) {
    return LittleEndian.getIntAcquire(segment, offset + LAST_DWORD_OFFSET);
  }

  /** The last dword, read plainly: an acquire fence stands between it and reads of the rest. */
  public static int plainLastDword(MemorySegment segment, long offset) {
    return (int) LAST_DWORD.get(segment, offset);
  }

  /** owner of a last dword, 0..255. */
  public static int owner(int lastDword) {
    return lastDword >>> OWNER_SHIFT;
  }

  /** Whether is_send of a last dword is not zero. */
  public static boolean isSend(int lastDword) {
    return (lastDword >>> IS_SEND_SHIFT & 0xff) != 0;
  }

  /**
   * Whether a last dword is what devices write for a send's success: either owner, is_send 1 and
   * nothing else beside the opcode. Not that of a free entry.
   */
  public static boolean isGoodSend(int lastDword) {
    return (lastDword & SEND_MASK) == 1 << IS_SEND_SHIFT && opcode(lastDword) != WqeOpcode.INVALID;
  }

  /**
   * Whether a last dword is what devices write for a receive's success: either owner, an opcode,
   * and nothing else. Not that of a free entry.
   */
  public static boolean isGoodReceive(int lastDword) {
    return (lastDword & SEND_MASK) == 0 && opcode(lastDword) != WqeOpcode.INVALID;
  }

  /** opcode of a last dword, 0..255. */
  public static int opcode(int lastDword) {
    return lastDword & OPCODE_MASK;
  }

  /** my_qpn. */
  public static int qpn(MemorySegment segment, long offset) {
    return (int) QPN.get(segment, offset);
  }

  /** my_ee, not in use. */
  public static int ee(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + EE_OFFSET);
  }

  /** rqpn. */
  public static int remoteQpn(MemorySegment segment, long offset) {
    return (int) REMOTE_QPN.get(segment, offset);
  }

  /** rlid, 16 bits. */
  public static int remoteLid(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + REMOTE_LID_OFFSET) >>> REMOTE_LID_SHIFT;
  }

  /** g_mlpath, 8 bits, not in use: {@link #PATH_GRH} and {@link #PATH_LMC_MASK}. */
  public static int path(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + REMOTE_LID_OFFSET) >>> PATH_SHIFT & 0xff;
  }

  /** sl_ipok, 8 bits, not in use. */
  public static int slIpok(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + REMOTE_LID_OFFSET) & SL_IPOK_MASK;
  }

  /** imm of a success, the little-endian dword of the sender's WQE. */
  public static int immediate(MemorySegment segment, long offset) {
    return (int) IMMEDIATE.get(segment, offset);
  }

  /** byte_cnt of a success. */
  public static int byteCount(MemorySegment segment, long offset) {
    return (int) BYTE_COUNT.get(segment, offset);
  }

  /** wqe: byte offset of the WQE in its queue. */
  public static int wqeOffset(MemorySegment segment, long offset) {
    return (int) WQE_OFFSET.get(segment, offset);
  }

  /** syndrome of an error, 10h[7:0]; see {@link Syndrome#of}. */
  public static int syndrome(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + IMMEDIATE_OFFSET) & 0xff;
  }

  /** vendor_err of an error, 10h[15:8]. */
  public static int vendorError(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + IMMEDIATE_OFFSET) >>> 8 & 0xff;
  }

  /** db_cnt of an error, 16 bits, not in use. */
  public static int doorbellCount(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + IMMEDIATE_OFFSET) >>> DOORBELL_COUNT_SHIFT;
  }

  /** 10h[31:24], where the first RTL puts the syndrome of a UC or UD error. */
  public static int topSyndrome(MemorySegment segment, long offset) {
    return LittleEndian.getInt(segment, offset + IMMEDIATE_OFFSET) >>> 24;
  }

  /** Frees a consumed entry: stores the sentinel over the last dword. */
  public static void free(MemorySegment segment, long offset) {
    LAST_DWORD.set(segment, offset, FREE_DWORD);
  }

  /** Fills {@code entries} entries from {@code offset} on with sentinel bytes. */
  public static void fill(MemorySegment segment, long offset, long entries) {
    segment.asSlice(offset, entries * SIZE).fill((byte) SENTINEL);
  }

  /**
   * A device writes a success: all 32 bytes, the last dword last; fields not in use are 0.
   *
   * @param remoteLid rlid, 16 bits
   * @param immediate imm, 0 when the message has none
   * @param byteCount bytes sent or received
   * @param wqeOffset byte offset of the WQE in its queue
   * @param isSend true for the completion of a send WQE
   * @param opcode a {@link WqeOpcode} for a send, a {@link BthOpcode} for a receive
   * @param owner what the device writes, {@link HardwareProfile#cqeOwner()}
   */
  public static void encodeSuccess(
      MemorySegment segment,
      long offset,
      int qpn,
      int remoteQpn,
      int remoteLid,
      int immediate,
      int byteCount,
      int wqeOffset,
      boolean isSend,
      int opcode,
      int owner) {
    LittleEndian.putInts(segment, offset, qpn, 0);
    LittleEndian.putInts(
        segment, offset + REMOTE_QPN_OFFSET, remoteQpn, remoteLid << REMOTE_LID_SHIFT);
    LittleEndian.putInts(segment, offset + IMMEDIATE_OFFSET, immediate, byteCount);
    publish(segment, offset, wqeOffset, isSend, opcode, owner);
  }

  /**
   * A device writes an error: all 32 bytes, the last dword last, opcode FFh; fields not in use are
   * 0.
   *
   * @param wqeOffset byte offset of the failed WQE in its queue
   * @param syndrome code of a {@link Syndrome}, 8 bits
   * @param vendorError vendor_err, 8 bits
   * @param isSend EXTENSION: true for the completion of a send WQE; a device that follows the
   *     document leaves this blank
   * @param owner what the device writes, {@link HardwareProfile#cqeOwner()}
   */
  public static void encodeError(
      MemorySegment segment,
      long offset,
      int qpn,
      int wqeOffset,
      int syndrome,
      int vendorError,
      boolean isSend,
      int owner) {
    LittleEndian.putInts(segment, offset, qpn, 0);
    LittleEndian.putLong(segment, offset + REMOTE_QPN_OFFSET, 0);
    LittleEndian.putInts(
        segment, offset + IMMEDIATE_OFFSET, (vendorError & 0xff) << 8 | syndrome & 0xff, 0);
    publish(segment, offset, wqeOffset, isSend, WqeOpcode.INVALID, owner);
  }

  /**
   * The first RTL writes an error of a UC or UD send: the element's opcode stays, is_send is 0 and
   * the syndrome is in byte 13h. Fields not in use are 0.
   *
   * @param wqeOffset byte offset of the failed WQE in its queue
   * @param opcode a {@link WqeOpcode}
   * @param syndrome 8 bits
   */
  public static void encodeTopError(
      MemorySegment segment, long offset, int qpn, int wqeOffset, int opcode, int syndrome) {
    LittleEndian.putInts(segment, offset, qpn, 0);
    LittleEndian.putLong(segment, offset + REMOTE_QPN_OFFSET, 0);
    LittleEndian.putInts(segment, offset + IMMEDIATE_OFFSET, syndrome << 24, 0);
    publish(segment, offset, wqeOffset, false, opcode, OWNER_SOFTWARE);
  }

  private static void publish(
      MemorySegment segment, long offset, int wqeOffset, boolean isSend, int opcode, int owner) {
    // A reader that sees the owner byte must see the other seven dwords. This is a fence rather
    // than a release store, because a device may build the entry in memory of any alignment.
    VarHandle.releaseFence();
    int last = owner << OWNER_SHIFT | (isSend ? 1 << IS_SEND_SHIFT : 0) | opcode & OPCODE_MASK;
    LittleEndian.putInts(segment, offset + WQE_OFFSET_OFFSET, wqeOffset, last);
  }
}
