package org.hghca.driver;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.QueuePairContext;
import org.hghca.driver.memory.Ring;
import org.hghca.provider.Undo;

/** The memory of a queue pair's rings. */
final class QueuePairMemory {
  private final Ring sends;
  private final Ring receives;

  /** Whether the ring of receives is that of all who have none. */
  private final boolean receivesNothing;

  /**
   * Makes the rings.
   *
   * @param receives whether there is anything to receive into: a queue pair that has nothing is
   *     shown the ring of its domain that is always empty, and takes no key for one of its own
   */
  QueuePairMemory(DomainRings rings, QueueGeometry geometry, boolean receives) {
    try (Undo undo = new Undo()) {
      this.sends = rings.ring(geometry.sendBytes());
      undo.add(sends::close);
      this.receivesNothing = !receives;
      this.receives =
          receives ? rings.ring(geometry.receiveBytes()) : rings.emptyRing(geometry.receiveBytes());
      undo.forget();
    }
  }

  MemorySegment sends() {
    return sends.segment();
  }

  MemorySegment receives() {
    return receives.segment();
  }

  int sendKey() {
    return sends.key();
  }

  int sendOffset() {
    return sends.offset();
  }

  int receiveKey() {
    return receives.key();
  }

  int receiveOffset() {
    return receives.offset();
  }

  /** Puts into a context where the rings are. */
  void tell(QueuePairContext context) {
    context
        .set(QueuePairContext.SEND_WQE_LKEY, sendKey())
        .set(QueuePairContext.SEND_RING_OFFSET, sendOffset())
        .set(QueuePairContext.RECEIVE_WQE_LKEY, receiveKey())
        .set(QueuePairContext.RECEIVE_RING_OFFSET, receiveOffset());
  }

  /** Frees the rings, which the card has forgotten. */
  void close() {
    if (!receivesNothing) {
      receives.close();
    }
    sends.close();
  }
}
