package org.hghca.programs.rdmacm;

/** An rping's connection has ended while it waited for something. */
final class RpingEndedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final RpingState state;

  /**
   * It has ended.
   *
   * @param expected the state that it waited for
   * @param found DISCONNECTED or ERROR
   */
  RpingEndedException(RpingState expected, RpingState found) {
    super("wait for %s state %d".formatted(expected, found.number()));
    state = found;
  }

  /** Whether the peer has ended it in good order. */
  boolean isDisconnected() {
    return state == RpingState.DISCONNECTED;
  }
}
