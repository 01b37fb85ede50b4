package org.hghca.driver;

import java.lang.foreign.MemorySegment;
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
  QueuePairMemory(HghcaProtectionDomain pd, QueueGeometry geometry, boolean receives) {
    try (Undo undo = new Undo()) {
      this.sends = pd.ring(geometry.sendBytes());
      undo.add(sends::close);
      this.receivesNothing = !receives;
      this.receives =
          receives ? pd.ring(geometry.receiveBytes()) : pd.emptyRing(geometry.receiveBytes());
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

  /** Frees the rings, which the card has forgotten. */
  void close() {
    if (!receivesNothing) {
      receives.close();
    }
    sends.close();
  }
}
