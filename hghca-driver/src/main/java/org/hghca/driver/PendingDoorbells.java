package org.hghca.driver;

import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;

/**
 * The send rings of a completion queue of which something has completed, until they have rung for
 * what they hold back. Under the completion queue's lock: who finds the queue as another one has
 * left it finds the doorbells rung as well.
 */
final class PendingDoorbells {
  private final List<BudgetedSendRing> rings = new ArrayList<>();

  /** A request of a ring is complete. */
  void add(BudgetedSendRing ring) {
    for (int i = rings.size() - 1; i >= 0; i--) {
      if (rings.get(i) == ring) {
        return;
      }
    }
    rings.add(ring);
  }

  /**
   * Rings for what may go now.
   *
   * @return whether there was any ring
   */
  boolean ring() {
    if (rings.isEmpty()) {
      return false;
    }
    // A ring that holds back from here on sees what has completed, or we see that it holds.
    VarHandle.fullFence();
    for (int i = 0; i < rings.size(); i++) {
      rings.get(i).ringHeld();
    }
    rings.clear();
    return true;
  }
}
