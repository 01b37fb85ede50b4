package org.hghca.driver;

/** How much memory the driver itself keeps mapped for a card, which counts as locked. */
public final class PinnedMemory {
  /**
   * Bytes from the bring-up on, on the profile of the card that needs most; queues and what the
   * application registers come on top.
   */
  public static final long AT_BRING_UP = 6 << 20;

  private PinnedMemory() {}
}
