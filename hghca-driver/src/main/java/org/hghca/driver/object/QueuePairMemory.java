package org.hghca.driver.object;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.QueuePairContext;
import org.hghca.driver.memory.DomainRings;
import org.hghca.driver.memory.Ring;
import org.hghca.driver.ring.QueueGeometry;
import org.hghca.provider.Undo;

/** The memory of a queue pair's rings. */
final class QueuePairMemory {
  private final Ring sends;
  private final Ring receives;

  /** Whether the receive ring is the shared empty one. */
  private final boolean receivesNothing;

  /**
   * Makes the rings.
   *
   * @param receives whether there are receives: a queue pair without any gets the always empty ring
   *     of its protection domain, and takes no key of its own
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

  /** Writes the positions of the rings into a context. */
  void writeTo(QueuePairContext context) {
    context
        .set(QueuePairContext.SEND_WQE_LKEY, sendKey())
        .set(QueuePairContext.SEND_RING_OFFSET, sendOffset())
        .set(QueuePairContext.RECEIVE_WQE_LKEY, receiveKey())
        .set(QueuePairContext.RECEIVE_RING_OFFSET, receiveOffset());
  }

  /** Frees the rings, which the card has released. */
  void close() {
    if (!receivesNothing) {
      receives.close();
    }
    sends.close();
  }
}
