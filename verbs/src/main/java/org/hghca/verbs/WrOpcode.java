package org.hghca.verbs;

/** The operation of a send work request: the numbers of {@code ibv_wr_opcode}. */
public enum WrOpcode {
  RDMA_WRITE(0, WcOpcode.RDMA_WRITE),
  RDMA_WRITE_WITH_IMM(1, WcOpcode.RDMA_WRITE),
  SEND(2, WcOpcode.SEND),
  SEND_WITH_IMM(3, WcOpcode.SEND),
  RDMA_READ(4, WcOpcode.RDMA_READ),
  ATOMIC_CMP_AND_SWP(5, WcOpcode.COMP_SWAP),
  ATOMIC_FETCH_AND_ADD(6, WcOpcode.FETCH_ADD);

  private final int code;
  private final WcOpcode completion;

  WrOpcode(int code, WcOpcode completion) {
    this.code = code;
    this.completion = completion;
  }

  /** The number in libibverbs. */
  public int code() {
    return code;
  }

  /** The opcode of the completion of such a request. */
  public WcOpcode completion() {
    return completion;
  }
}
