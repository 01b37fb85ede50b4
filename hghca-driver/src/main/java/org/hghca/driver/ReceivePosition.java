package org.hghca.driver;

/**
 * Where the card goes on in the receive ring of a queue pair number. It counts bytes, and goes
 * astray in a ring of another geometry.
 *
 * @param slots of the ring that it has seen
 * @param strideLog of that ring
 * @param next the slot that it takes next
 */
record ReceivePosition(int slots, int strideLog, int next) {

  /** Whether the card goes on rightly in a ring. */
  boolean fits(QueueGeometry geometry) {
    return slots == geometry.receiveSlots() && strideLog == geometry.receiveStrideLog();
  }
}
