package org.hghca.driver;

/** The memory that the driver itself keeps pinned for a card, which counts as locked. */
public final class PinnedMemory {
  /**
   * Bytes from bring-up on, on the profile that needs most; queues and memory of the application
   * are not included.
   */
  public static final long AT_BRING_UP = 6 << 20;

  private PinnedMemory() {}
}
