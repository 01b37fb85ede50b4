package org.hghca.verbs;

/** The state of a queue pair: the numbers of {@code ibv_qp_state}. */
public enum QpState {
  RESET(0),
  INIT(1),
  RTR(2),
  RTS(3),
  SQD(4),
  SQE(5),
  ERR(6);

  private final int code;

  QpState(int code) {
    this.code = code;
  }

  /** The number in libibverbs. */
  public int code() {
    return code;
  }
}
