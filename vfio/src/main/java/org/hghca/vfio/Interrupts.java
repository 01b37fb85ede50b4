package org.hghca.vfio;

/**
 * The interrupt vectors of a function. One thread awaits them; {@link #wake} may be called by any.
 */
public interface Interrupts {

  /** How many vectors the function has; at most 64 are used. */
  int vectors();

  /**
   * Waits until at least one vector fired since the last call.
   *
   * @param timeoutNanos the longest wait; 0 does not wait
   * @return a bit for each vector that fired (bit 0 is vector 0); 0 after the time, or when woken
   */
  long await(long timeoutNanos);

  /** Makes a wait in progress, or else the next one, return at once. */
  void wake();
}
