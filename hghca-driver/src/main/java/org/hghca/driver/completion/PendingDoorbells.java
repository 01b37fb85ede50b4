package org.hghca.driver.completion;

import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import org.hghca.driver.ring.BudgetedSendRing;

/**
 * The send rings of a completion queue with new completions, until they have rung for held-back
 * requests. Under the completion queue's lock: a thread that sees another thread's polling also
 * sees its doorbells.
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
   * Rings for requests that are allowed now.
   *
   * @return whether there was any ring
   */
  boolean ring() {
    if (rings.isEmpty()) {
      return false;
    }
    // A ring that holds back from here on sees the completions, or we see that it holds back.
    VarHandle.fullFence();
    for (int i = 0; i < rings.size(); i++) {
      rings.get(i).ringHeld();
    }
    rings.clear();
    return true;
  }
}
