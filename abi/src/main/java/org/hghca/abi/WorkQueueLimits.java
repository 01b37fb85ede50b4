package org.hghca.abi;

/**
 * What a work queue may be at most, on every profile of the card. QUERY_DEV_LIM may lower each
 * limit.
 */
public final class WorkQueueLimits {
  /** Largest queue, in bytes: sq_head has 16 bits of 16 bytes. */
  public static final int MAX_BYTES = 1 << 20;

  /** Largest WQE and largest stride, in bytes; strides are powers of two. */
  public static final int MAX_WQE_BYTES = 512;

  /**
   * Maximum number of data units of a WQE. A receive has room for more in the largest stride, with
   * the next unit and the terminator: DEV_LIM allows 16.
   */
  public static final int MAX_SGE = 16;

  private WorkQueueLimits() {}
}
