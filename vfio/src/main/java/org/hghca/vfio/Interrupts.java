package org.hghca.vfio;

import java.util.Arrays;
import java.util.function.BooleanSupplier;

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

  /**
   * How often a vector has fired, as far as {@link #await} has seen it. Any thread may ask.
   *
   * @param vector from 0 on
   */
  long count(int vector);

  /** {@link #count} of all vectors, by number. */
  default long[] counts() {
    long[] counts = new long[Math.min(64, vectors())];
    Arrays.setAll(counts, this::count);
    return counts;
  }

  /**
   * Has a thread of this process that raises an interrupt handle it itself, where that thread may,
   * instead of waking the one that waits. Does nothing where interrupts come from elsewhere. The
   * handler must not wait for the device, whose work that thread may do.
   *
   * @param handler called by several threads at the same time, also after the last interrupt;
   *     returns false where the thread that waits must handle it
   */
  default void handleBy(BooleanSupplier handler) {}

  /** Makes the current wait, or the next one if there is none, return at once. */
  void wake();
}
