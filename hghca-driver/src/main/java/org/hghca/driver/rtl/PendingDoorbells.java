package org.hghca.driver.rtl;

import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import org.hghca.driver.rtl.ring.QuotaSendRing;

/**
 * The send rings of a completion queue with new completions, until they have rung for held-back
 * requests. Under the completion queue's lock: a thread that sees another thread's polling also
 * sees its doorbells.
 */
final class PendingDoorbells {
  /** The ring of the last completion; null for none. */
  private QuotaSendRing last;

  /** Whether it has new completions. */
  private boolean lastWaits;

  /** The others with new completions. */
  private final List<QuotaSendRing> others = new ArrayList<>();

  /** A request of a ring is complete. */
  void add(QuotaSendRing ring) {
    if (ring != last) {
      change(ring);
    }
    lastWaits = true;
  }

  private void change(QuotaSendRing ring) {
    if (lastWaits) {
      others.add(last);
    }
    boolean _ = others.remove(ring);
    last = ring;
  }

  /** Forgets a ring, whose queue pair is reset or closed. */
  void forget(QuotaSendRing ring) {
    boolean _ = others.remove(ring);
    if (ring == last) {
      lastWaits = !others.isEmpty();
      last = lastWaits ? others.removeLast() : null;
    }
  }

  /**
   * Rings for requests that are allowed now.
   *
   * @return whether there was any ring
   */
  boolean ringAllowed() {
    if (!lastWaits) {
      return false;
    }
    // A ring that holds back from here on sees the completions, or we see that it holds back.
    VarHandle.fullFence();
    lastWaits = false;
    last.ringHeld();
    if (!others.isEmpty()) {
      ringOthers();
    }
    return true;
  }

  private void ringOthers() {
    for (QuotaSendRing other : others) {
      other.ringHeld();
    }
    others.clear();
  }
}
