package org.hghca.abi;

/**
 * Opcodes of send work requests, as they are in the doorbell, in the next unit and in the CQE of a
 * send.
 *
 * <p>The doorbell's own table (3-1-7) lists only the five from {@link #RDMA_WRITE} to {@link
 * #RDMA_READ}. No other opcode may be used on the RTL: NOP and the atomics stop its send side for
 * every QP.
 *
 * <p>Source: interface document, first table 3-3-3.
 */
public final class WqeOpcode {
  /** Does nothing. Table 3-3-3. */
  public static final int NOP = 0x00;

  /** RDMA WRITE. Tables 3-1-7 and 3-3-3. */
  public static final int RDMA_WRITE = 0x08;

  /** RDMA WRITE with immediate. Tables 3-1-7 and 3-3-3. */
  public static final int RDMA_WRITE_IMM = 0x09;

  /** SEND. Tables 3-1-7 and 3-3-3. */
  public static final int SEND = 0x0a;

  /** SEND with immediate. Tables 3-1-7 and 3-3-3. */
  public static final int SEND_IMM = 0x0b;

  /** RDMA READ. Tables 3-1-7 and 3-3-3. */
  public static final int RDMA_READ = 0x10;

  /** Compare and swap. Table 3-3-3. */
  public static final int ATOMIC_CS = 0x11;

  /** Fetch and add. Table 3-3-3. */
  public static final int ATOMIC_FA = 0x12;

  /** Bind a memory window. Table 3-3-3. */
  public static final int BIND_MW = 0x18;

  /** In a CQE: the work request failed. Never in a WQE. Table 3-3-3. */
  public static final int INVALID = 0xff;

  private WqeOpcode() {}

  /** The table's name without its prefix, or {@code opcode 0x..} for a code not in the table. */
  public static String name(int opcode) {
    return switch (opcode) {
      case NOP -> "NOP";
      case RDMA_WRITE -> "RDMA_WRITE";
      case RDMA_WRITE_IMM -> "RDMA_WRITE_IMM";
      case SEND -> "SEND";
      case SEND_IMM -> "SEND_IMM";
      case RDMA_READ -> "RDMA_READ";
      case ATOMIC_CS -> "ATOMIC_CS";
      case ATOMIC_FA -> "ATOMIC_FA";
      case BIND_MW -> "BIND_MW";
      case INVALID -> "INVALID";
      default -> String.format("opcode 0x%02x", opcode);
    };
  }
}
