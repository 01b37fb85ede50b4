package org.hghca.model.hca;

import org.hghca.vfio.direct.RingMemory;

/**
 * Where a ring is in host memory, if all of it is in place. It was checked once, for as long as the
 * tables, the mappings and the context of its queue stay.
 */
final class PlacedRing {
  private long epoch = Region.NEVER;
  private long reading;

  /** Where its first byte is, for {@link RingMemory#at}. */
  private long base;

  /**
   * Takes over where a ring is, if its queue's memory has all of it.
   *
   * @param begin the position of the ring in the memory
   * @param bytes its length, at least one
   * @param good the epoch in which the memory is good
   * @param ofContext the number of what says where the ring is: another one when that changes
   */
  void keep(QueueMemory memory, long begin, long bytes, long good, long ofContext) {
    if (memory.has(begin, bytes)) {
      base = memory.at(begin);
      reading = ofContext;
      epoch = good;
    }
  }

  /** Whether it is known in an epoch, from what has a number. */
  boolean isKnown(long in, long ofContext) {
    return epoch == in && reading == ofContext;
  }

  /** Where an offset in the ring is, in {@link QueueBytes#MEMORY}. */
  long at(long offset) {
    return RingMemory.at(base, offset);
  }
}
