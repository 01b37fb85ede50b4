package org.hghca.conformance.hostile;

import java.lang.foreign.MemorySegment;

/** The deviations of a faulty device from a correct one. Called by any thread. */
interface Sabotage {

  /** A device without faults. */
  Sabotage NONE = new Sabotage() {};

  /**
   * A register was read.
   *
   * @param honest the value of a correct device
   */
  default long read(int bar, long offset, int width, long honest) {
    return honest;
  }

  /**
   * A register is about to be written.
   *
   * @return false to lose the write
   */
  default boolean write(int bar, long offset, int width, long value) {
    return true;
  }

  /**
   * The device has read host memory.
   *
   * @param bytes the data, which may be changed
   * @return false to make the access fail
   */
  default boolean dmaRead(MemorySegment bytes) {
    return true;
  }

  /**
   * The device is about to write host memory.
   *
   * @param iova the address
   * @param bytes the data, which may be changed
   * @return false to drop the write without an error
   */
  default boolean dmaWrite(long iova, MemorySegment bytes) {
    return true;
  }

  /** The device raises a vector: how often it arrives. */
  default int raise(int vector) {
    return 1;
  }
}
