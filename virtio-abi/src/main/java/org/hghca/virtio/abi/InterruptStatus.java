package org.hghca.virtio.abi;

/**
 * The register of pending interrupts, one byte: "ISR status capability". Reading it clears it. A
 * device with interrupt vectors leaves it unused.
 */
public final class InterruptStatus {
  /** A queue has used buffers. */
  public static final int QUEUE = 1;

  /** The configuration has changed. */
  public static final int CONFIGURATION = 2;

  private InterruptStatus() {}
}
