package org.hghca.model.hca;

import java.util.Objects;
import org.hghca.model.transport.MemoryAccess;
import org.hghca.vfio.DmaWindow;
import org.hghca.vfio.direct.RingMemory;

/**
 * Where the memory of one queue is in host memory: the stretch of its region that was accessed
 * last. It is looked up once for as long as the tables and the mappings stay.
 */
final class QueueMemory {
  private long epoch = Region.NEVER;
  private int key;
  private int pd;

  /** The positions in the queue's region that the stretch has. */
  private long begin;

  private long end;

  /** Where the first of them is, for {@link RingMemory#at}. */
  private long base;

  private boolean writable;

  /**
   * Takes over the stretch of a region, which is good in an epoch of the tables, and whose window's
   * memory stays. It has a byte of the region.
   */
  void keep(Region region, int ofKey, int ofPd, long good) {
    epoch = Region.NEVER;
    key = ofKey;
    pd = ofPd;
    begin = region.stretchBegin();
    end = Math.max(begin, region.stretchEnd()); // a length of 2^63 or more is negative
    DmaWindow window = region.window();
    long offset = region.iova(region.start() + begin) - window.iova();
    Objects.checkFromIndexSize(offset, end - begin, window.memory().byteSize());
    base = RingMemory.guarded(window.memory()).at(offset);
    writable = region.has(MemoryAccess.LOCAL_WRITE) && region.isWritable();
    epoch = good;
  }

  /** Whether it has some bytes of a region's queue in an epoch. */
  boolean holds(int ofKey, int ofPd, long in, long position, int size) {
    return epoch == in && key == ofKey && pd == ofPd && has(position, size);
  }

  /** Whether the stretch has some bytes. */
  boolean has(long position, long size) {
    return position >= begin && position <= end - size;
  }

  /** Where a byte is that it has, in {@link QueueBytes#MEMORY}. */
  long at(long position) {
    return RingMemory.at(base, position - begin);
  }

  /** Whether the card may write there. */
  boolean isWritable() {
    return writable;
  }
}
