package org.hghca.verbs;

/** The logical state of a port: the numbers and names of {@code ibv_port_state}. */
public enum PortState {
  NOP(0, "invalid state"),
  DOWN(1, "PORT_DOWN"),
  INIT(2, "PORT_INIT"),
  ARMED(3, "PORT_ARMED"),
  ACTIVE(4, "PORT_ACTIVE"),
  ACTIVE_DEFER(5, "invalid state");

  private final int code;
  private final String text;

  PortState(int code, String text) {
    this.code = code;
    this.text = text;
  }

  /** The number in libibverbs. */
  public int code() {
    return code;
  }

  /** The name that {@code ibv_devinfo} prints, which knows four states. */
  public String text() {
    return text;
  }
}
