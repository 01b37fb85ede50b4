package org.hghca.driver.ring;

/**
 * The position at which a queue pair number is continued in its receive ring, on a card whose
 * positions survive a queue pair (docs/hardware.md, "Numbers, and what survives destroy"; by the
 * document each begins at 0). Such a card counts bytes, and fails in a ring of another geometry.
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
