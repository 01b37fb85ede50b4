package org.hghca.model.rtl;

/** The contexts on the chip. Numbers alias: only the low 13 bits of a number count. */
public interface Contexts {

  /** The queue pair of a number; never null, but perhaps never programmed. */
  OnChipQp queuePair(int qpn);

  /** The completion queue of a number; never null, but the card may not own it. */
  OnChipCq completionQueue(int cqn);

  /**
   * Writes the fields that traffic changes into the image of a queue pair in ICM, if that is
   * mapped.
   */
  void writeBack(int qpn);
}
