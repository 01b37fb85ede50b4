package org.hghca.vfio;

import java.lang.foreign.MemorySegment;

/**
 * The device's view of its host: memory by I/O virtual address, and interrupts. An access that the
 * host does not allow transfers no forbidden data, is recorded as a fault on the host's side, and
 * returns {@code false}. Thread-safe.
 */
public interface DeviceBus {
  /** {@link #beginRun}: there are no windows. */
  long NO_WINDOWS = -1;

  /**
   * Reads host memory. The order in which its bytes are read is unspecified. If an earlier read saw
   * a write, this one sees all writes before that write.
   *
   * @param destination receives the bytes, from {@code offset} on
   * @return whether all bytes were read; after {@code false} the destination's content is undefined
   */
  boolean read(long iova, MemorySegment destination, long offset, long length);

  /**
   * Writes host memory. A reader that sees the last byte sees all other bytes, and all earlier
   * writes.
   *
   * @param source the bytes, from {@code offset} on
   * @return whether all bytes were written
   */
  boolean write(long iova, MemorySegment source, long offset, long length);

  /** Raises an interrupt vector. */
  void raise(int vector);

  /**
   * Raises an interrupt vector on a thread that holds no lock of a driver or a device, and so may
   * do what the interrupt asks for.
   */
  default void raiseHere(int vector) {
    raise(vector);
  }

  /**
   * Whether an access may wait, for instance for another process that owns the memory; then a
   * device must not access memory on a thread of the host.
   */
  default boolean mayWait() {
    return true;
  }

  /**
   * Begins a run of accesses by the calling thread, in which a device may also access memory
   * through windows, without a call for each access. One thread at a time has a run. Memory that
   * the host takes away meanwhile stays until the end of the run, for which the host waits: a run
   * must not wait for the host.
   *
   * @return a number of 0 or more, which changes when memory was taken away: windows of other
   *     numbers are void; {@link #NO_WINDOWS} if there are none on this bus
   */
  default long beginRun() {
    return NO_WINDOWS;
  }

  /** Ends the run. */
  default void endRun() {}

  /**
   * The memory around an I/O address. In a run only.
   *
   * @return null when nothing is mapped there, or when that memory is accessed by calls alone
   */
  default DmaWindow window(long iova) {
    return null;
  }
}
