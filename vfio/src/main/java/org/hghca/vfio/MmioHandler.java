package org.hghca.vfio;

/** Receives the accesses to a register region that is not plain memory. Thread-safe. */
public interface MmioHandler {

  /**
   * One read access.
   *
   * @param width 1, 2, 4 or 8 bytes
   * @return the value; only its low {@code width} bytes are used
   */
  long read(long offset, int width);

  /**
   * One write access.
   *
   * @param width 1, 2, 4 or 8 bytes
   */
  void write(long offset, int width, long value);

  /**
   * Whether a write may reach the registers after its call has returned. A later read of the
   * function then waits for it.
   */
  default boolean isPosted() {
    return true;
  }
}
