package org.hghca.abi;

/**
 * Opcodes in the CQE of a receive: the low five bits of the BTH opcode of the message's last
 * packet, which are the same for RC, UC and UD.
 *
 * <p>Source: interface document, table 3-3-2 (the opcode of the last packet received); the codes
 * are InfiniBand's.
 */
public final class BthOpcode {
  /** Last packet of a SEND. */
  public static final int SEND_LAST = 0x02;

  /** Last packet of a SEND with immediate. */
  public static final int SEND_LAST_IMM = 0x03;

  /** Only packet of a SEND. */
  public static final int SEND_ONLY = 0x04;

  /** Only packet of a SEND with immediate. */
  public static final int SEND_ONLY_IMM = 0x05;

  /** Last packet of an RDMA WRITE with immediate. */
  public static final int WRITE_LAST_IMM = 0x09;

  /** Only packet of an RDMA WRITE with immediate. */
  public static final int WRITE_ONLY_IMM = 0x0b;

  private BthOpcode() {}

  /** Whether the message carried an immediate. */
  public static boolean hasImmediate(int opcode) {
    return opcode == SEND_LAST_IMM || opcode == SEND_ONLY_IMM || isWriteImmediate(opcode);
  }

  /** Whether the message was an RDMA WRITE with immediate, not a SEND. */
  public static boolean isWriteImmediate(int opcode) {
    return opcode == WRITE_LAST_IMM || opcode == WRITE_ONLY_IMM;
  }
}
