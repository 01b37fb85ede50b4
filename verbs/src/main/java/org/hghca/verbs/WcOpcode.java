package org.hghca.verbs;

/** The kind of the completed work request: the numbers of {@code ibv_wc_opcode}. */
public enum WcOpcode {
  SEND(0),
  RDMA_WRITE(1),
  RDMA_READ(2),
  COMP_SWAP(3),
  FETCH_ADD(4),
  RECV(128),
  RECV_RDMA_WITH_IMM(129);

  private static final WcOpcode[] BY_CODE = new WcOpcode[256];

  static {
    for (WcOpcode opcode : values()) {
      BY_CODE[opcode.code] = opcode;
    }
  }

  private final int code;

  WcOpcode(int code) {
    this.code = code;
  }

  /** The number in libibverbs. */
  public int code() {
    return code;
  }

  /** Whether a receive completed. */
  public boolean isReceive() {
    return code >= 128;
  }

  /**
   * The opcode with a number of libibverbs.
   *
   * @throws VerbsException EINVAL when there is none
   */
  public static WcOpcode of(int code) {
    WcOpcode opcode = code >= 0 && code < 256 ? BY_CODE[code] : null;
    if (opcode == null) {
      throw new VerbsException(
          Errno.EINVAL, "there is no completion opcode with the number " + code);
    }
    return opcode;
  }
}
