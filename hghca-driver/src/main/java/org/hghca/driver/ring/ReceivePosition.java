package org.hghca.driver.ring;

/**
 * The position at which the card continues in the receive ring of a queue pair number. The card
 * counts bytes, and fails in a ring of another geometry.
 *
 * @param slots of the previous ring
 * @param strideLog of that ring
 * @param next the slot that it takes next
 */
public record ReceivePosition(int slots, int strideLog, int next) {

  /** Whether the card continues correctly in a ring. */
  public boolean fits(QueueGeometry geometry) {
    return slots == geometry.receiveSlots() && strideLog == geometry.receiveStrideLog();
  }
}
