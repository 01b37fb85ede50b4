package org.hghca.driver.ring;

import org.hghca.vfio.direct.RingMemory;

/**
 * A work queue's memory and its layout. The slots lie in the memory, so that a masked index times
 * the stride is always an offset in it.
 *
 * @param memory memory that the card reads; guarded if posters take a lock
 * @param qpn the queue pair's number
 * @param depth maximum number of outstanding requests, at most {@code slots}
 * @param slots a power of two
 * @param strideLog logarithm of a slot's bytes
 */
public record RingShape(RingMemory memory, int qpn, int depth, int slots, int strideLog) {
  /** Checks that the slots lie in the memory. */
  public RingShape {
    if (Integer.bitCount(slots) != 1) {
      throw new IllegalArgumentException("a ring of %d slots".formatted(slots));
    }
    memory.checkHolds((long) slots << strideLog);
  }

  /**
   * Checks that a slot holds the largest request.
   *
   * @param bytes of that request
   */
  void checkSlot(int bytes) {
    if (bytes > 1 << strideLog) {
      throw new IllegalArgumentException(
          "requests of up to %d bytes in slots of %d".formatted(bytes, 1 << strideLog));
    }
  }
}
