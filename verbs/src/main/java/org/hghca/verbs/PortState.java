package org.hghca.verbs;

/** The logical state of a port: the numbers and names of {@code ibv_port_state}. */
public enum PortState {
  NOP("invalid state"),
  DOWN("PORT_DOWN"),
  INIT("PORT_INIT"),
  ARMED("PORT_ARMED"),
  ACTIVE("PORT_ACTIVE"),
  ACTIVE_DEFER("invalid state");

  private final String text;

  PortState(String text) {
    this.text = text;
  }

  /** The number in libibverbs. */
  public int code() {
    return ordinal();
  }

  /** The name that {@code ibv_devinfo} prints, which knows four states. */
  public String text() {
    return text;
  }
}
