package org.hghca.abi;

/**
 * The HCA command register: seven dwords in BAR0 (interface document, tables 3-1-3 and 3-1-4).
 *
 * <pre>
 *      31           24 23 22 21 20 19           12 11            0
 *     +---------------------------------------------------------+
 * 00h |                     in_param[63:32]                     |
 * 04h |                     in_param[31:0]                      |
 * 08h |                     in_modifier                         |
 * 0Ch |                     out_param[63:32]                    |
 * 10h |                     out_param[31:0]                     |
 * 14h |           token             |         reserved          |
 * 18h |    status      |go| E |rsvd |  op_modifier  |     op    |
 *     +---------------------------------------------------------+
 * </pre>
 *
 * <p>Unlike mailboxes, the dwords are native little-endian numbers. Each is read and written by one
 * aligned 32-bit access: the RTL ignores 64-bit stores, and narrower ones corrupt its state.
 */
public final class Hcr {
  /** Bytes. */
  public static final int SIZE = 28;

  /** in_param[63:32]. */
  public static final int IN_PARAM_HIGH = 0x00;

  /** in_param[31:0]. */
  public static final int IN_PARAM_LOW = 0x04;

  /** in_modifier. */
  public static final int IN_MODIFIER = 0x08;

  /** out_param[63:32]; the RTL clears both halves at every completion. */
  public static final int OUT_PARAM_HIGH = 0x0C;

  /** out_param[31:0]. */
  public static final int OUT_PARAM_LOW = 0x10;

  /** token in bits 31:16; the low half reads zero. */
  public static final int TOKEN = 0x14;

  /** status, go, event, op_modifier and op: written last. */
  public static final int COMMAND = 0x18;

  /** The token of a command whose end is polled (CMD_POLL_TOKEN). */
  public static final int POLL_TOKEN = 0xFFFF;

  /** 18h[23]: set by software to start the command, cleared by the card with the status. */
  public static final int GO = 1 << 23;

  /** 18h[22]: report the end of the command to the event queue. */
  public static final int EVENT = 1 << 22;

  private static final int STATUS_SHIFT = 24;
  private static final int OP_MODIFIER_SHIFT = 12;
  private static final int OP_MODIFIER_MASK = 0xFF;
  private static final int OP_MASK = 0xFFF;
  private static final int TOKEN_SHIFT = 16;

  private Hcr() {}

  /**
   * The dword at 18h that starts a command: go set, status and event zero.
   *
   * @param op 12 bits
   * @param opModifier 8 bits
   * @throws IllegalArgumentException if one does not fit
   */
  public static int command(int op, int opModifier) {
    if ((op & ~OP_MASK) != 0) {
      throw new IllegalArgumentException("op takes 12 bits, not 0x" + Integer.toHexString(op));
    }
    if ((opModifier & ~OP_MODIFIER_MASK) != 0) {
      throw new IllegalArgumentException(
          "op_modifier takes 8 bits, not 0x" + Integer.toHexString(opModifier));
    }
    return GO | opModifier << OP_MODIFIER_SHIFT | op;
  }

  /**
   * The dword at 18h as the card leaves it: status set, go cleared, all else kept.
   *
   * @param command the dword that started the command
   * @param status 8 bits, see {@link CommandStatus}
   * @throws IllegalArgumentException if the status does not fit
   */
  public static int completed(int command, int status) {
    if ((status & ~0xFF) != 0) {
      throw new IllegalArgumentException(
          "status takes 8 bits, not 0x" + Integer.toHexString(status));
    }
    return status << STATUS_SHIFT | (command & ~GO & -1 >>> Byte.SIZE);
  }

  /** 18h[31:24]. */
  public static int status(int command) {
    return command >>> STATUS_SHIFT;
  }

  /** 18h[23]: whether the command still runs. */
  public static boolean go(int command) {
    return (command & GO) != 0;
  }

  /** 18h[22]. */
  public static boolean event(int command) {
    return (command & EVENT) != 0;
  }

  /** 18h[19:12]. */
  public static int opModifier(int command) {
    return command >>> OP_MODIFIER_SHIFT & OP_MODIFIER_MASK;
  }

  /** 18h[11:0]. */
  public static int op(int command) {
    return command & OP_MASK;
  }

  /**
   * The dword at 14h that holds a token.
   *
   * @param token 16 bits
   * @throws IllegalArgumentException if it does not fit
   */
  public static int tokenRegister(int token) {
    if ((token & ~0xFFFF) != 0) {
      throw new IllegalArgumentException(
          "token takes 16 bits, not 0x" + Integer.toHexString(token));
    }
    return token << TOKEN_SHIFT;
  }

  /** The token held by the dword at 14h. */
  public static int token(int tokenRegister) {
    return tokenRegister >>> TOKEN_SHIFT;
  }
}
