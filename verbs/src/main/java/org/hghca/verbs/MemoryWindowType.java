package org.hghca.verbs;

/** How a memory window is bound: the numbers of {@code ibv_mw_type}. */
public enum MemoryWindowType {
  /** By a verb. */
  TYPE_1(1),
  /** By a send request. */
  TYPE_2(2);

  private final int code;

  MemoryWindowType(int code) {
    this.code = code;
  }

  /** The number in libibverbs. */
  public int code() {
    return code;
  }
}
