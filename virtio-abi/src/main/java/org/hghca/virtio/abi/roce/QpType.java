package org.hghca.virtio.abi.roce;

/** Types of queue pairs, with the numbers of libibverbs. */
public final class QpType {
  /** Subnet management; no device of RoCE has it. */
  public static final int SMI = 0;

  /** General services. */
  public static final int GSI = 1;

  /** Reliable connected. */
  public static final int RC = 2;

  /** Unreliable connected. */
  public static final int UC = 3;

  /** Unreliable datagram. */
  public static final int UD = 4;

  private QpType() {}
}
