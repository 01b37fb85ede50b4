package org.hghca.virtio.abi.roce;

/** States of a queue pair, with the numbers of libibverbs. */
public final class QpState {
  /** Reset. */
  public static final int RESET = 0;

  /** Initialized. */
  public static final int INIT = 1;

  /** Ready to receive. */
  public static final int RTR = 2;

  /** Ready to send. */
  public static final int RTS = 3;

  /** Send queue drained. */
  public static final int SQD = 4;

  /** Send queue in error. */
  public static final int SQE = 5;

  /** Error. */
  public static final int ERR = 6;

  private QpState() {}
}
