package org.hghca.verbs;

/** The transport service of a queue pair: the numbers of {@code ibv_qp_type}. */
public enum QpType {
  RC(2),
  UC(3),
  UD(4);

  private final int code;

  QpType(int code) {
    this.code = code;
  }

  /** The number in libibverbs. */
  public int code() {
    return code;
  }
}
