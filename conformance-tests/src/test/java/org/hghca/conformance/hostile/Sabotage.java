package org.hghca.conformance.hostile;

import java.lang.foreign.MemorySegment;

/** What a bad device does differently from a good one. Called by any thread. */
interface Sabotage {

  /** A device that does nothing wrong. */
  Sabotage NONE = new Sabotage() {};

  /**
   * A register was read.
   *
   * @param honest what a good device answers
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
   * @param bytes what it got, to be changed at will
   * @return false to have it take the access for refused
   */
  default boolean dmaRead(MemorySegment bytes) {
    return true;
  }

  /**
   * The device is about to write host memory.
   *
   * @param iova where
   * @param bytes what it writes, to be changed at will
   * @return false to lose the write without telling the device
   */
  default boolean dmaWrite(long iova, MemorySegment bytes) {
    return true;
  }

  /** The device raises a vector: how often it arrives. */
  default int raise(int vector) {
    return 1;
  }
}
