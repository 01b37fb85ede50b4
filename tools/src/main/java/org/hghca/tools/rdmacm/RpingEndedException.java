package org.hghca.tools.rdmacm;

/** An rping's connection has ended while it waited for something. */
final class RpingEndedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final RpingState state;

  /**
   * It has ended.
   *
   * @param expected the state that it waited for
   * @param state DISCONNECTED or ERROR
   */
  RpingEndedException(RpingState expected, RpingState state) {
    super("wait for %s state %d".formatted(expected, state.number()));
    this.state = state;
  }

  /** Whether the peer has ended it in good order. */
  boolean isDisconnected() {
    return state == RpingState.DISCONNECTED;
  }
}
