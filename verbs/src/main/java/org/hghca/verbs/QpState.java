package org.hghca.verbs;

/** The state of a queue pair: the numbers of {@code ibv_qp_state}. */
public enum QpState {
  RESET,
  INIT,
  RTR,
  RTS,
  SQD,
  SQE,
  ERR;

  /** The number in libibverbs. */
  public int code() {
    return ordinal();
  }
}
