package org.hghca.verbs;

/** What a send work request does: the numbers of {@code ibv_wr_opcode}. */
public enum WrOpcode {
  RDMA_WRITE(WcOpcode.RDMA_WRITE),
  RDMA_WRITE_WITH_IMM(WcOpcode.RDMA_WRITE),
  SEND(WcOpcode.SEND),
  SEND_WITH_IMM(WcOpcode.SEND),
  RDMA_READ(WcOpcode.RDMA_READ),
  ATOMIC_CMP_AND_SWP(WcOpcode.COMP_SWAP),
  ATOMIC_FETCH_AND_ADD(WcOpcode.FETCH_ADD);

  private final WcOpcode completion;

  WrOpcode(WcOpcode completion) {
    this.completion = completion;
  }

  /** The number in libibverbs. */
  public int code() {
    return ordinal();
  }

  /** The opcode of the completion that such a request gives. */
  public WcOpcode completion() {
    return completion;
  }
}
