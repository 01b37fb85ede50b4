package org.hghca.model.transport;

/** The states of a queue pair (InfiniBand specification, volume 1, 10.3.1). */
public enum QueuePairState {
  RESET,
  INIT,
  RTR,
  RTS,
  SQE,
  SQD,
  ERR;

  /** Whether sends may be outstanding, so that responses of the peer are processed. */
  public boolean sends() {
    return this == RTS || this == SQD;
  }

  /** Whether send work requests are taken: to be sent, to wait or to be flushed. */
  public boolean takesSends() {
    return this == RTS || this == SQD || this == SQE || this == ERR;
  }

  /** Whether requests of the peer are served. */
  public boolean receives() {
    return this == RTR || this == RTS || this == SQE || this == SQD;
  }
}
