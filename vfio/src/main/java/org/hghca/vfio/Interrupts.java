package org.hghca.vfio;

/**
 * The interrupt vectors of a function. One thread awaits them; {@link #wake} may be called by any.
 */
public interface Interrupts {

  /** Number of vectors of the function; at most 64 are used. */
  int vectors();

  /**
   * Waits until at least one vector fired since the last call.
   *
   * @param timeoutNanos the maximum wait; 0 does not wait
   * @return a bit for each vector that fired (bit 0 is vector 0); 0 after a time-out or wake-up
   */
  long await(long timeoutNanos);

  /** Makes the current wait, or the next one if there is none, return at once. */
  void wake();
}
