package org.hghca.abi;

/**
 * Values written to a UAR page.
 *
 * <pre>
 *       31       24 23               8 7  6  5 4        0
 * 00h  |     0     |  sq_head[23:8]   | 0  0 |F|opcode   |
 * 04h  |             qpn[31:8]        |   size0[7:0]     |
 * </pre>
 *
 * <p>The send doorbell is one 8-byte store, little-endian: dword 00h is its low half. sq_head is
 * the byte offset of the first WQE in its ring divided by 16; size0 is the size of that WQE in
 * units of 16 bytes, exactly. A UAR page is never read.
 *
 * <p>Composing functions drop bits that lie outside their field.
 *
 * <p>The two arm registers are an EXTENSION: the document mentions such doorbells, but gives
 * neither offset nor layout; this project defines the layout, and the software HCA implements it.
 *
 * <p>The makers' RTL decodes the offsets of the arm registers, and stores there have no effect. It
 * takes [31:8] of the low dword as sq_head, so [31:24] stays 0. A 4-byte store to 00h rings for QPN
 * 0 with size 0, which stops its send side, and it never completes a read.
 *
 * <p>Source: interface document, tables 3-1-6 and 3-1-7.
 */
public final class Doorbell {
  /** Offset of the send doorbell in a UAR page. Table 3-1-6. */
  public static final int SEND_QUEUE = 0x00;

  /** EXTENSION: offset of the CQ arm register; not in the document. */
  public static final int CQ_ARM = 0x10;

  /** EXTENSION: offset of the EQ arm register; not in the document. */
  public static final int EQ_ARM = 0x20;

  /** opcode, [4:0] of the 64-bit value. Table 3-1-7. */
  public static final int OPCODE_MASK = 0x1f;

  /** F, bit 5 of the 64-bit value. Table 3-1-7. */
  public static final int FENCE_SHIFT = 5;

  /** sq_head, [23:8] of the 64-bit value: lowest bit. Table 3-1-7. */
  public static final int HEAD_SHIFT = 8;

  /** sq_head, [23:8] of the 64-bit value: largest value. Table 3-1-7. */
  public static final int HEAD_MASK = 0xffff;

  /** size0, [7:0] of dword 04h, [39:32] of the 64-bit value: lowest bit. Table 3-1-7. */
  public static final int SIZE_SHIFT = 32;

  /** size0: largest value. Table 3-1-7. */
  public static final int SIZE_MASK = 0xff;

  /** qpn, [31:8] of dword 04h, [63:40] of the 64-bit value: lowest bit. Table 3-1-7. */
  public static final int QPN_SHIFT = 40;

  /** EXTENSION: CQ arm, [23:0]: the CQN. */
  public static final int CQ_ARM_CQN_MASK = 0xff_ffff;

  /** EXTENSION: CQ arm, [25:24] = 1: an event at the next solicited completion. */
  public static final int CQ_ARM_SOLICITED = 1 << 24;

  /** EXTENSION: CQ arm, [25:24] = 2: an event at the next completion. */
  public static final int CQ_ARM_NEXT = 2 << 24;

  /** EXTENSION: EQ arm, [7:0]: the EQN. */
  public static final int EQ_ARM_EQN_MASK = 0xff;

  /** EXTENSION: EQ arm, [31:8]: the consumer index, lowest bit. */
  public static final int EQ_ARM_CONSUMER_INDEX_SHIFT = 8;

  private Doorbell() {}

  /**
   * The value of a send doorbell.
   *
   * @param qpn 24 bits
   * @param size16 size of the first WQE in units of 16 bytes, 1..255
   * @param headUnits16 byte offset of the first WQE in its ring divided by 16, 16 bits
   * @param fence 1 when the first WQE is fenced, else 0
   * @param opcode opcode of the first WQE, 5 bits
   */
  public static long sendQueue(int qpn, int size16, int headUnits16, int fence, int opcode) {
    int low =
        (headUnits16 & HEAD_MASK) << HEAD_SHIFT | (fence & 1) << FENCE_SHIFT | opcode & OPCODE_MASK;
    int high = qpn << (QPN_SHIFT - 32) | size16 & SIZE_MASK;
    return (long) high << 32 | low;
  }

  /** qpn of a send doorbell. */
  public static int qpn(long sendQueue) {
    return (int) (sendQueue >>> QPN_SHIFT);
  }

  /** size0 of a send doorbell: units of 16 bytes. */
  public static int size16(long sendQueue) {
    return (int) (sendQueue >>> SIZE_SHIFT) & SIZE_MASK;
  }

  /** sq_head of a send doorbell: byte offset of the first WQE divided by 16. */
  public static int headUnits16(long sendQueue) {
    return (int) sendQueue >>> HEAD_SHIFT & HEAD_MASK;
  }

  /** F of a send doorbell: 0 or 1. */
  public static int fence(long sendQueue) {
    return (int) sendQueue >>> FENCE_SHIFT & 1;
  }

  /** opcode of a send doorbell. */
  public static int opcode(long sendQueue) {
    return (int) sendQueue & OPCODE_MASK;
  }

  /**
   * EXTENSION: the value that arms a CQ.
   *
   * @param cqn 24 bits
   * @param solicitedOnly true for an event at the next solicited completion, false at the next one
   */
  public static int armCompletionQueue(int cqn, boolean solicitedOnly) {
    return cqn & CQ_ARM_CQN_MASK | (solicitedOnly ? CQ_ARM_SOLICITED : CQ_ARM_NEXT);
  }

  /** EXTENSION: CQN of a CQ arm value. */
  public static int armedCqn(int cqArm) {
    return cqArm & CQ_ARM_CQN_MASK;
  }

  /** EXTENSION: whether a CQ arm value requests an event at any next completion. */
  public static boolean armsNext(int cqArm) {
    return (cqArm & CQ_ARM_NEXT) != 0;
  }

  /** EXTENSION: whether a CQ arm value requests an event at the next solicited completion. */
  public static boolean armsSolicited(int cqArm) {
    return (cqArm & CQ_ARM_SOLICITED) != 0;
  }

  /**
   * EXTENSION: the value that arms an EQ and returns its entries to the card.
   *
   * @param eqn 8 bits
   * @param consumerIndex entries consumed since the EQ was made, modulo 2^24
   */
  public static int armEventQueue(int eqn, int consumerIndex) {
    return eqn & EQ_ARM_EQN_MASK | consumerIndex << EQ_ARM_CONSUMER_INDEX_SHIFT;
  }

  /** EXTENSION: EQN of an EQ arm value. */
  public static int armedEqn(int eqArm) {
    return eqArm & EQ_ARM_EQN_MASK;
  }

  /** EXTENSION: consumer index of an EQ arm value, 24 bits. */
  public static int consumerIndex(int eqArm) {
    return eqArm >>> EQ_ARM_CONSUMER_INDEX_SHIFT;
  }
}
